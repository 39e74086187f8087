"""The people of tenants, who sign in to the portal."""

import click
import msgspec

from app.access import users
from app.access.users import IssuedLink
from app.cli.runtime import actor, async_command, command_store, load_settings, print_json
from app.domain.tenant import Role, User
from app.kit.clock import iso_seconds, system_clock
from app.kit.errors import NotFound
from app.store import tenants
from app.store import users as stored
from app.store.transaction import Tx


@click.group()
def user() -> None:
    """The people of a tenant. A one-time link is printed once, when it is issued; pass it to its user."""


@user.command("create")
@click.option("--tenant", "slug", required=True, help="The slug of their tenant.")
@click.option("--email", required=True, help="The address that they sign in with.")
@click.option("--name", required=True)
@click.option("--role", required=True, type=click.Choice([role.value for role in Role]))
@async_command
async def user_create(slug: str, email: str, name: str, role: str) -> None:
    """Create a user; prints the link by which they set their password within 24 hours."""
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store, store.transaction() as tx:
        made = await users.create_user(tx, slug, email, name, Role(role), by=actor(), now=now)
        link = await new_link(tx, made, settings.secret_key)
    print_json(link_view(users.link_address(settings.public_url, link.raw), link) | _user_view(made))


@user.command("link")
@click.argument("email")
@click.option("--without-second-factor", is_flag=True, help="Using it also removes the second factor.")
@async_command
async def user_link(email: str, without_second_factor: bool) -> None:
    """A new link for the user EMAIL to set a password within 24 hours; earlier links end."""
    settings = load_settings()
    async with command_store(settings) as store, store.transaction() as tx:
        found = await _by_email(tx, email)
        link = await new_link(tx, found, settings.secret_key, without_second_factor)
    print_json(link_view(users.link_address(settings.public_url, link.raw), link) | _user_view(found))


@user.command("list")
@click.option("--tenant", "slug", required=True, help="The tenant's slug.")
@async_command
async def user_list(slug: str) -> None:
    """The users of a tenant, those that have ended too."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
        print_json([_user_view(each) for each in await users.listing(tx, tenant.id)])


@user.command("end")
@click.argument("email")
@async_command
async def user_end(email: str) -> None:
    """End the user EMAIL for good, with all their sessions and links."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        found = await _by_email(tx, email)
        ended = await users.end_user(
            tx, found.tenant_id, found.id, by=actor(), now=system_clock(), operator=True
        )
    print_json(_user_view(ended))


async def _by_email(tx: Tx, email: str) -> User:
    record = await stored.by_email(tx, users.normalized_email(email))
    if record is None:
        raise NotFound(f"There is no active user {email!r}.")
    return record.user


async def new_link(tx: Tx, person: User, secret: str, without_second_factor: bool = False) -> IssuedLink:
    """Issue a link to the person, in the name of the user who runs the command."""
    return await users.issue_link(
        tx,
        person.tenant_id,
        person.id,
        secret=secret,
        by=actor(),
        now=system_clock(),
        without_second_factor=without_second_factor,
    )


def link_view(address: str, link: IssuedLink) -> dict[str, object]:
    return {
        "link": address,
        "purpose": link.purpose.value,
        "expires_at": iso_seconds(link.expires_at),
    }


def _user_view(each: User) -> dict[str, object]:
    view: dict[str, object] = msgspec.to_builtins(each)
    last = each.last_sign_in_at
    return view | {
        "created_at": iso_seconds(each.created_at),
        "last_sign_in_at": iso_seconds(last) if last else None,
    }
