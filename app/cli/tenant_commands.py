"""Tenants, their keys and their bookings."""

from collections.abc import Awaitable, Callable
from typing import get_args
from uuid import UUID

import click
import msgspec

from app.access import admin, feed_selection
from app.access.api_keys import KeyAlteration, KeyProperties
from app.access.feed_selection import TypeState, market_types_of, set_market_types
from app.cli.connections import broker_config, command_store
from app.cli.runtime import actor, async_command, load_settings, print_json
from app.domain.scopes import BUNDLES
from app.domain.tenant import RATE_LIMIT_RPM, SDK_RATE_LIMIT_RPM, Tenant
from app.kit.clock import iso_seconds, system_clock
from app.kit.control_characters import contains_control_characters
from app.store import audit, keys, tenants
from app.store.keys import Key


@click.group()
def tenant() -> None:
    """Tenants: the customers that receive the data."""


@tenant.command("create")
@click.argument("slug")
@click.option("--name", help="Its name (default: the slug).")
@click.option(
    "--vhost",
    type=click.Choice(get_args(admin.VhostName)),
    default="slug",
    show_default=True,
    help="What names its vhost: bookmaker_id, for clients that have /oddinfeed/{bookmaker_id} built in.",
)
@async_command
async def tenant_create(slug: str, name: str | None, vhost: admin.VhostName) -> None:
    """Create the tenant SLUG."""
    settings = load_settings()
    if contains_control_characters([name]):
        raise click.ClickException("a name holds no control characters")
    async with command_store(settings) as store, store.transaction() as tx:
        made = await admin.create_tenant(
            tx,
            slug,
            name or slug,
            by=actor(),
            now=system_clock(),
            internal_vhost=settings.rabbitmq_internal_vhost,
            vhost=vhost,
        )
    print_json(msgspec.to_builtins(made))


@tenant.command("list")
@async_command
async def tenant_list() -> None:
    """All tenants."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        print_json(msgspec.to_builtins(await tenants.listing(tx)))


@tenant.command("provision")
@click.argument("slug")
@async_command
async def tenant_provision(slug: str) -> None:
    """Create the AMQP vhost of the tenant SLUG, or a new password for it; prints the URL, once.

    What it may do there depends on BROKER_AUTHORISATION: with "http", it may declare durable queues and name
    them itself; with "patterns" (the default), only queues that the server names."""
    settings = load_settings()
    click.echo(f"rights at the broker: {settings.broker_authorisation} (BROKER_AUTHORISATION)", err=True)
    async with command_store(settings) as store, broker_config(settings) as broker:
        click.echo(await admin.provision_amqp(store, slug, broker, by=actor(), now=system_clock()))


@tenant.command("revoke")
@click.argument("slug")
@async_command
async def tenant_revoke(slug: str) -> None:
    """Revoke the access of the tenant SLUG: all its keys and its AMQP user."""
    await _change(admin.set_tenant_active, slug, False)


@tenant.command("reactivate")
@click.argument("slug")
@async_command
async def tenant_reactivate(slug: str) -> None:
    """Restore the access of the tenant SLUG, with the keys and the AMQP password that it had."""
    await _change(admin.set_tenant_active, slug, True)


@tenant.command("probabilities")
@click.argument("slug")
@click.argument("wanted", metavar="on|off", type=click.Choice(["on", "off"]))
@async_command
async def tenant_probabilities(slug: str, wanted: str) -> None:
    """Send the tenant SLUG the model's probabilities with the odds, or no longer."""
    await _change(admin.set_probabilities, slug, wanted == "on")


@tenant.command("bet-stop")
@click.argument("slug")
@click.argument("wanted", metavar="on|off", type=click.Choice(["on", "off"]))
@async_command
async def tenant_bet_stop(slug: str, wanted: str) -> None:
    """Send the tenant SLUG the message bet_stop where the whole offer of a match stops, or no longer."""
    await _change(admin.set_bet_stop, slug, wanted == "on")


@tenant.command("queues")
@click.argument("slug")
@click.argument("most", type=int)
@async_command
async def tenant_queues(slug: str, most: int) -> None:
    """Let the tenant SLUG have up to MOST queues at the broker. An SDK process has two for
    each session, or three."""
    await _change(admin.set_max_queues, slug, most)


@tenant.command("market-types")
@click.argument("slug")
@click.argument("wanted", metavar="[on|off", type=click.Choice(["on", "off"]), required=False)
@click.argument("types", metavar="TYPE...]", nargs=-1, type=int)
@async_command
async def tenant_market_types(slug: str, wanted: str | None, types: tuple[int, ...]) -> None:
    """The market types of the tenant SLUG; with "on" or "off", switch the TYPEs (their numbers) for it.

    Off: open markets are suspended for the tenant, new ones are not offered to it, and results of those that
    were still arrive."""
    if wanted and not types:
        raise click.UsageError("name the market types to switch, by number")
    async with command_store(load_settings()) as store, store.transaction() as tx:
        if wanted:
            states = await set_market_types(tx, slug, types, wanted == "on", by=actor(), now=system_clock())
        else:
            states = await market_types_of(tx, slug)
    print_json([_type_view(each) for each in states])


def _type_view(state: TypeState) -> dict[str, object]:
    since = iso_seconds(state.since) if state.since else None
    return {"id": state.type.id, "name": state.type.name.en, "on": state.on, "since": since}


@tenant.command("audit")
@click.argument("slug")
@click.option("--limit", default=50, show_default=True)
@async_command
async def tenant_audit(slug: str, limit: int) -> None:
    """The audit records of the tenant SLUG, its keys and bookings, newest first."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        owner = await tenants.by_slug(tx, slug)
        records = await audit.listing(tx, owner.id, limit=limit)
    print_json([msgspec.to_builtins(record) | {"at": iso_seconds(record.at)} for record in records])


async def _change(change: Callable[..., Awaitable[Tenant]], slug: str, value: bool | int) -> None:
    """Give a property of the tenant another value, and print the tenant."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        changed = await change(tx, slug, value, by=actor(), now=system_clock())
    print_json(msgspec.to_builtins(changed))


@click.group()
def key() -> None:
    """API keys. A raw key is printed once, when it is created."""


@key.command("issue")
@click.argument("slug")
@click.option("--bundle", "bundles", multiple=True, type=click.Choice(sorted(BUNDLES)))
@click.option("--scope", "scopes", multiple=True, help="A single scope, e.g. cs2:matches:list.")
@click.option("--sport", "sports", multiple=True, default=("cs2",), show_default=True)
@click.option("--network", "networks", multiple=True, help="Where the key may be used from (CIDR).")
@click.option(
    "--rpm",
    default=RATE_LIMIT_RPM,
    show_default=True,
    help=f"Requests a minute; {SDK_RATE_LIMIT_RPM} for an unmodified SDK that starts with 200 matches.",
)
@click.option("--label", default="", help="What the key is for.")
@click.option("--finished-only", is_flag=True, help="Sees finished matches only.")
@async_command
async def key_issue(slug: str, rpm: int, **options: object) -> None:
    """Issue a key for the tenant SLUG."""
    settings = load_settings()
    properties = msgspec.convert({**options, "rate_limit_rpm": rpm}, KeyProperties)
    async with command_store(settings) as store, store.transaction() as tx:
        issued = await admin.issue_key(
            tx, slug, properties, secret=settings.secret_key, by=actor(), now=system_clock()
        )
    print_json({"api_key": issued.raw} | _key_view(issued.key))


@key.command("rotate")
@click.argument("key_id", type=click.UUID)
@async_command
async def key_rotate(key_id: UUID) -> None:
    """Replace the key KEY_ID by a new one; the old one is revoked at once."""
    settings = load_settings()
    async with command_store(settings) as store, store.transaction() as tx:
        issued = await admin.rotate_key(
            tx, key_id, secret=settings.secret_key, by=actor(), now=system_clock()
        )
    print_json({"api_key": issued.raw} | _key_view(issued.key))


@key.command("revoke")
@click.argument("key_id", type=click.UUID)
@async_command
async def key_revoke(key_id: UUID) -> None:
    """Revoke the key KEY_ID."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        print_json(_key_view(await admin.revoke_key(tx, key_id, by=actor(), now=system_clock())))


@key.command("reactivate")
@click.argument("key_id", type=click.UUID)
@async_command
async def key_reactivate(key_id: UUID) -> None:
    """Restore the revoked key KEY_ID."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        print_json(_key_view(await admin.reactivate_key(tx, key_id, by=actor(), now=system_clock())))


@key.command("alter")
@click.argument("key_id", type=click.UUID)
@click.option("--rpm", type=int, help="Requests a minute.")
@click.option("--label", help="What the key is for.")
@click.option("--sport", "sports", multiple=True, help="The sports that it may use, all of them.")
@click.option("--network", "networks", multiple=True, help="Where it may be used from (CIDR), all of them.")
@click.option("--any-network", is_flag=True, help="Allow it from anywhere.")
@async_command
async def key_alter(
    key_id: UUID,
    rpm: int | None,
    label: str | None,
    sports: tuple[str, ...],
    networks: tuple[str, ...],
    any_network: bool,
) -> None:
    """Change the properties of the key KEY_ID that are named; the rest stays."""
    where = () if any_network else networks or None
    change = KeyAlteration(sports=sports or None, networks=where, rate_limit_rpm=rpm, label=label)
    async with command_store(load_settings()) as store, store.transaction() as tx:
        print_json(_key_view(await admin.alter_key(tx, key_id, change, by=actor(), now=system_clock())))


@key.command("list")
@click.argument("slug")
@async_command
async def key_list(slug: str) -> None:
    """The keys of the tenant SLUG."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        owner = await tenants.by_slug(tx, slug)
        print_json([_key_view(each) for each in await keys.listing(tx, owner.id)])


def _key_view(each: Key) -> dict[str, object]:
    view: dict[str, object] = msgspec.to_builtins(each)
    for name in ("created_at", "revoked_at", "last_used_at"):
        moment = getattr(each, name)
        view[name] = iso_seconds(moment) if moment else None
    return view | {"scopes": sorted(each.scopes), "sports": sorted(each.sports)}


@click.command()
@click.argument("slug")
@click.argument("match")
@async_command
async def book(slug: str, match: str) -> None:
    """Book MATCH (its UUID or od:match:<n>) for the tenant SLUG."""
    await _set_booked(slug, match, True)


@click.command()
@click.argument("slug")
@click.argument("match")
@async_command
async def unbook(slug: str, match: str) -> None:
    """Unbook MATCH (its UUID or od:match:<n>) for the tenant SLUG."""
    await _set_booked(slug, match, False)


async def _set_booked(slug: str, match: str, booked: bool) -> None:
    async with command_store(load_settings()) as store, store.transaction() as tx:
        changed = await feed_selection.set_booked(tx, slug, match, booked, by=actor(), now=system_clock())
    state = "booked" if booked else "not booked"
    click.echo(f"{match} is {state} for {slug}{'' if changed else ' (it was so already)'}")
