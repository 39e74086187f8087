"""Operators, who sign in to the trading console."""

import click
import msgspec

from app.access import users
from app.cli.runtime import actor, async_command, command_store, load_settings, print_json
from app.cli.user_commands import link_view, new_link
from app.domain.user import OperatorRole, User
from app.kit.clock import iso_seconds, system_clock

_ROLES = click.Choice([role.value for role in OperatorRole])


@click.group()
def operator() -> None:
    """People who sign in to the trading console. A one-time link is printed once; pass it to its operator."""


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
        link = await new_link(tx, made, settings.secret_key)
    print_json(link_view(f"{settings.console_url}/link/{link.raw}", link) | _view(made))


@operator.command("link")
@click.argument("email")
@click.option("--without-second-factor", is_flag=True, help="Using it also removes the second factor.")
@async_command
async def operator_link(email: str, without_second_factor: bool) -> None:
    """A new link for the operator EMAIL to set a password within 24 hours; earlier links end."""
    settings = load_settings()
    async with command_store(settings) as store, store.transaction() as tx:
        found = await users.operator_by_email(tx, email)
        link = await new_link(tx, found, settings.secret_key, without_second_factor)
    print_json(link_view(f"{settings.console_url}/link/{link.raw}", link) | _view(found))


@operator.command("role")
@click.argument("email")
@click.argument("role", type=_ROLES)
@async_command
async def operator_role(email: str, role: str) -> None:
    """Give the operator EMAIL another role, at once."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        by, now = actor(), system_clock()
        print_json(_view(await users.set_operator_role(tx, email, OperatorRole(role), by=by, now=now)))


@operator.command("list")
@async_command
async def operator_list() -> None:
    """All operators, those that have ended too."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        print_json([_view(each) for each in await users.operator_listing(tx)])


@operator.command("end")
@click.argument("email")
@async_command
async def operator_end(email: str) -> None:
    """End the operator EMAIL for good, with all their sessions and links."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        found = await users.operator_by_email(tx, email)
        ended = await users.end_user(
            tx, found.tenant_id, found.id, by=actor(), now=system_clock(), operator=True
        )
    print_json(_view(ended))


def _view(each: User) -> dict[str, object]:
    fields = {name: getattr(each, name) for name in ("id", "email", "name", "active", "second_factor")}
    view: dict[str, object] = msgspec.to_builtins(fields | {"role": each.operator_role})
    last = each.last_sign_in_at
    return view | {"last_sign_in_at": iso_seconds(last) if last else None}
