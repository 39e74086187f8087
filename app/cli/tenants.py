"""Tenants, their keys, and what is booked for them."""

from uuid import UUID

import click
import msgspec

from app.access import admin
from app.access.properties import KeyAlteration, KeyProperties
from app.cli.context import broker_of, opened, running, settled, show, who
from app.domain.scopes import BUNDLES
from app.domain.tenant import RATE_LIMIT_RPM
from app.kit.clock import iso_seconds, system_clock
from app.kit.control_characters import any_control_characters
from app.store import audit, keys, tenants
from app.store.keys import Key


@click.group()
def tenant() -> None:
    """Tenants: the businesses that we tell."""


@tenant.command("create")
@click.argument("slug")
@click.option("--name", help="Its name (default: the slug).")
@running
async def tenant_create(slug: str, name: str | None) -> None:
    """Create the tenant SLUG."""
    settings = settled()
    if any_control_characters([name]):
        raise click.ClickException("a name holds no control characters")
    async with opened(settings) as store, store.transaction() as tx:
        made = await admin.create_tenant(
            tx,
            slug,
            name or slug,
            by=who(),
            now=system_clock(),
            internal_vhost=settings.rabbitmq_internal_vhost,
        )
    show(msgspec.to_builtins(made))


@tenant.command("list")
@running
async def tenant_list() -> None:
    """All tenants."""
    async with opened(settled()) as store, store.reading() as tx:
        show(msgspec.to_builtins(await tenants.listing(tx)))


@tenant.command("provision")
@click.argument("slug")
@running
async def tenant_provision(slug: str) -> None:
    """Give the tenant SLUG its AMQP vhost, or a new password for it; prints the URL, once.

    What it may do there depends on BROKER_AUTHORISATION: with "http", it may have durable queues of names of
    its own; with "patterns" (the default), only queues that the server names.
    """
    settings = settled()
    click.echo(f"rights at the broker: {settings.broker_authorisation} (BROKER_AUTHORISATION)", err=True)
    async with opened(settings) as store, broker_of(settings) as broker:
        click.echo(await admin.provision_amqp(store, slug, broker, by=who(), now=system_clock()))


@tenant.command("revoke")
@click.argument("slug")
@running
async def tenant_revoke(slug: str) -> None:
    """Keep the tenant SLUG out, with all its keys and its AMQP user."""
    await _set_active(slug, False)


@tenant.command("reactivate")
@click.argument("slug")
@running
async def tenant_reactivate(slug: str) -> None:
    """Let the tenant SLUG in again, with the keys and the AMQP password that it had."""
    await _set_active(slug, True)


@tenant.command("audit")
@click.argument("slug")
@click.option("--limit", default=50, show_default=True)
@running
async def tenant_audit(slug: str, limit: int) -> None:
    """What was done about the tenant SLUG, its keys and bookings, newest first."""
    async with opened(settled()) as store, store.reading() as tx:
        owner = await tenants.by_slug(tx, slug)
        records = await audit.listing(tx, owner.id, limit)
    show([msgspec.to_builtins(record) | {"at": iso_seconds(record.at)} for record in records])


async def _set_active(slug: str, active: bool) -> None:
    async with opened(settled()) as store, store.transaction() as tx:
        changed = await admin.set_tenant_active(tx, slug, active, by=who(), now=system_clock())
    show(msgspec.to_builtins(changed))


@click.group()
def key() -> None:
    """API keys. A raw key is shown once, when it is made."""


@key.command("issue")
@click.argument("slug")
@click.option("--bundle", "bundles", multiple=True, type=click.Choice(sorted(BUNDLES)))
@click.option("--scope", "scopes", multiple=True, help="A single scope, e.g. cs2:matches:list.")
@click.option("--sport", "sports", multiple=True, default=("cs2",), show_default=True)
@click.option("--network", "networks", multiple=True, help="Where the key may be used from (CIDR).")
@click.option("--rpm", default=RATE_LIMIT_RPM, show_default=True, help="Requests a minute.")
@click.option("--label", default="", help="What the key is for.")
@click.option("--finished-only", is_flag=True, help="Sees finished matches only.")
@running
async def key_issue(slug: str, rpm: int, **asked: object) -> None:
    """Issue a key for the tenant SLUG."""
    settings = settled()
    properties = msgspec.convert({**asked, "rate_limit_rpm": rpm}, KeyProperties)
    async with opened(settings) as store, store.transaction() as tx:
        issued = await admin.issue_key(
            tx, slug, properties, secret=settings.secret_key, by=who(), now=system_clock()
        )
    show({"api_key": issued.raw} | _shown(issued.key))


@key.command("rotate")
@click.argument("key_id", type=click.UUID)
@running
async def key_rotate(key_id: UUID) -> None:
    """Replace the key KEY_ID by a new one; the old one is dead at once."""
    settings = settled()
    async with opened(settings) as store, store.transaction() as tx:
        issued = await admin.rotate_key(tx, key_id, secret=settings.secret_key, by=who(), now=system_clock())
    show({"api_key": issued.raw} | _shown(issued.key))


@key.command("revoke")
@click.argument("key_id", type=click.UUID)
@running
async def key_revoke(key_id: UUID) -> None:
    """End the key KEY_ID."""
    async with opened(settled()) as store, store.transaction() as tx:
        show(_shown(await admin.revoke_key(tx, key_id, by=who(), now=system_clock())))


@key.command("reactivate")
@click.argument("key_id", type=click.UUID)
@running
async def key_reactivate(key_id: UUID) -> None:
    """Let the revoked key KEY_ID be used again."""
    async with opened(settled()) as store, store.transaction() as tx:
        show(_shown(await admin.reactivate_key(tx, key_id, by=who(), now=system_clock())))


@key.command("alter")
@click.argument("key_id", type=click.UUID)
@click.option("--rpm", type=int, help="Requests a minute.")
@click.option("--label", help="What the key is for.")
@click.option("--sport", "sports", multiple=True, help="The sports that it may use, all of them.")
@click.option("--network", "networks", multiple=True, help="Where it may be used from (CIDR), all of them.")
@click.option("--any-network", is_flag=True, help="Let it be used from anywhere.")
@running
async def key_alter(
    key_id: UUID,
    rpm: int | None,
    label: str | None,
    sports: tuple[str, ...],
    networks: tuple[str, ...],
    any_network: bool,
) -> None:
    """Change what is given about the key KEY_ID; the rest stays."""
    where = () if any_network else networks or None
    change = KeyAlteration(sports=sports or None, networks=where, rate_limit_rpm=rpm, label=label)
    async with opened(settled()) as store, store.transaction() as tx:
        show(_shown(await admin.alter_key(tx, key_id, change, by=who(), now=system_clock())))


@key.command("list")
@click.argument("slug")
@running
async def key_list(slug: str) -> None:
    """The keys of the tenant SLUG."""
    async with opened(settled()) as store, store.reading() as tx:
        owner = await tenants.by_slug(tx, slug)
        show([_shown(each) for each in await keys.listing(tx, owner.id)])


def _shown(each: Key) -> dict[str, object]:
    shown: dict[str, object] = msgspec.to_builtins(each)
    for name in ("created_at", "revoked_at", "last_used_at"):
        moment = getattr(each, name)
        shown[name] = iso_seconds(moment) if moment else None
    return shown | {"scopes": sorted(each.scopes), "sports": sorted(each.sports)}


@click.command()
@click.argument("slug")
@click.argument("match")
@running
async def book(slug: str, match: str) -> None:
    """Let the tenant SLUG have MATCH (its UUID or od:match:<n>)."""
    await _set_booked(slug, match, True)


@click.command()
@click.argument("slug")
@click.argument("match")
@running
async def unbook(slug: str, match: str) -> None:
    """Keep MATCH (its UUID or od:match:<n>) from the tenant SLUG."""
    await _set_booked(slug, match, False)


async def _set_booked(slug: str, match: str, booked: bool) -> None:
    async with opened(settled()) as store, store.transaction() as tx:
        changed = await admin.set_booked(tx, slug, match, booked, by=who(), now=system_clock())
    state = "booked" if booked else "not booked"
    click.echo(f"{match} is {state} for {slug}{'' if changed else ' (it was so already)'}")
