"""The people of tenants, who sign in to the portal, and operators, who sign in to the trading console."""

import click
import msgspec

from app.access import users
from app.access.erasure import erase_person
from app.access.users import IssuedLink
from app.cli.connections import command_store
from app.cli.runtime import actor, async_command, load_settings, print_json
from app.domain.tenant import OperatorRole, Role, User
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
        link = await _new_link(tx, made, settings.secret_key)
    print_json(_link_view(users.link_address(settings.public_url, link.raw), link) | _user_view(made))


@user.command("link")
@click.argument("email")
@click.option("--without-second-factor", is_flag=True, help="Using it also removes the second factor.")
@async_command
async def user_link(email: str, without_second_factor: bool) -> None:
    """A new link for the user EMAIL to set a password within 24 hours; earlier links end."""
    settings = load_settings()
    async with command_store(settings) as store, store.transaction() as tx:
        found = await _by_email(tx, email)
        link = await _new_link(tx, found, settings.secret_key, without_second_factor)
    print_json(_link_view(users.link_address(settings.public_url, link.raw), link) | _user_view(found))


@user.command("list")
@click.option("--tenant", "slug", required=True, help="The tenant's slug.")
@async_command
async def user_list(slug: str) -> None:
    """The users of a tenant, those that have ended too."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
        print_json([_user_view(each) for each in await stored.listing(tx, tenant.id)])


@user.command("end")
@click.argument("email")
@async_command
async def user_end(email: str) -> None:
    """End the user EMAIL for good, with all their sessions and links."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        ended = await _end(tx, await _by_email(tx, email))
    print_json(_user_view(ended))


@user.command("forget")
@click.argument("email")
@click.option("--yes", is_flag=True, help="Erase without asking.")
@async_command
async def user_forget(email: str, yes: bool) -> None:
    """Erase the user or operator EMAIL: password, sessions, links, name and address.

    What they did stays recorded under a pseudonym.
    """
    if not yes:
        click.confirm(f"Erase {email}? That cannot be undone.", abort=True)
    async with command_store(load_settings()) as store:
        print_json(msgspec.to_builtins(await erase_person(store, email, by=actor(), now=system_clock())))


async def _by_email(tx: Tx, email: str) -> User:
    record = await stored.by_email(tx, users.normalized_email(email))
    if record is None:
        raise NotFound(f"There is no active user {email!r}.")
    return record.user


async def _new_link(tx: Tx, person: User, secret: str, without_second_factor: bool = False) -> IssuedLink:
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


async def _end(tx: Tx, person: User) -> User:
    by, now = actor(), system_clock()
    return await users.end_user(tx, person.tenant_id, person.id, by=by, now=now, operator=True)


def _link_view(address: str, link: IssuedLink) -> dict[str, object]:
    expires_at = iso_seconds(link.expires_at)
    return {"link": address, "purpose": link.purpose.value, "expires_at": expires_at}


def _user_view(each: User) -> dict[str, object]:
    view: dict[str, object] = msgspec.to_builtins(each)
    last = each.last_sign_in_at
    return view | {
        "created_at": iso_seconds(each.created_at),
        "last_sign_in_at": iso_seconds(last) if last else None,
    }


_ROLES = click.Choice([role.value for role in OperatorRole])


@click.group()
def operator() -> None:
    """People who sign in to the trading console. A one-time link is printed once; pass it to its operator."""


operator.add_command(user_forget)


@operator.command("create")
@click.option("--email", required=True, help="The address that they sign in with.")
@click.option("--name", required=True)
@click.option("--role", required=True, type=_ROLES)
@async_command
async def operator_create(email: str, name: str, role: str) -> None:
    """Create an operator; prints the link by which they set their password within 24 hours."""
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store, store.transaction() as tx:
        made = await users.create_operator(tx, email, name, OperatorRole(role), by=actor(), now=now)
        link = await _new_link(tx, made, settings.secret_key)
    print_json(_link_view(f"{settings.console_url}/link/{link.raw}", link) | _operator_view(made))


@operator.command("link")
@click.argument("email")
@click.option("--without-second-factor", is_flag=True, help="Using it also removes the second factor.")
@async_command
async def operator_link(email: str, without_second_factor: bool) -> None:
    """A new link for the operator EMAIL to set a password within 24 hours; earlier links end."""
    settings = load_settings()
    async with command_store(settings) as store, store.transaction() as tx:
        found = await users.operator_by_email(tx, email)
        link = await _new_link(tx, found, settings.secret_key, without_second_factor)
    print_json(_link_view(f"{settings.console_url}/link/{link.raw}", link) | _operator_view(found))


@operator.command("role")
@click.argument("email")
@click.argument("role", type=_ROLES)
@async_command
async def operator_role(email: str, role: str) -> None:
    """Give the operator EMAIL another role, at once."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        by, now = actor(), system_clock()
        print_json(
            _operator_view(await users.set_operator_role(tx, email, OperatorRole(role), by=by, now=now))
        )


@operator.command("list")
@async_command
async def operator_list() -> None:
    """All operators, those that have ended too."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        print_json([_operator_view(each) for each in await users.operator_listing(tx)])


@operator.command("end")
@click.argument("email")
@async_command
async def operator_end(email: str) -> None:
    """End the operator EMAIL for good, with all their sessions and links."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        ended = await _end(tx, await users.operator_by_email(tx, email))
    print_json(_operator_view(ended))


def _operator_view(each: User) -> dict[str, object]:
    fields = {name: getattr(each, name) for name in ("id", "email", "name", "active", "second_factor")}
    view: dict[str, object] = msgspec.to_builtins(fields | {"role": each.operator_role})
    last = each.last_sign_in_at
    return view | {"last_sign_in_at": iso_seconds(last) if last else None}
