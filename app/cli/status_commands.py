"""What operators add to the status of the service, on the command line."""

from datetime import UTC, datetime

import click

from app.cli.connections import command_store
from app.cli.runtime import actor, async_command, load_settings, print_line, print_list
from app.domain.service_status import Incident, Maintenance, Part
from app.kit.clock import iso_seconds, system_clock
from app.status import announcements
from app.store import incidents

_TIME = click.DateTime(["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])
_LISTED = 50


@click.group()
def maintenance() -> None:
    """Maintenance that anybody reads at /status."""


@maintenance.command("announce")
@click.argument("begins_at", type=_TIME, metavar="BEGINS_AT")
@click.argument("ends_at", type=_TIME, metavar="ENDS_AT")
@click.option(
    "--part", "parts", type=click.Choice([part.value for part in Part]), multiple=True, required=True
)
@click.option("--text", required=True, help="What clients shall read, in one line.")
@async_command
async def announce(begins_at: datetime, ends_at: datetime, parts: tuple[Part, ...], text: str) -> None:
    """Announce that these parts may not work from BEGINS_AT until ENDS_AT (UTC, 2031-04-02T03:00)."""
    begin, end = (int(each.replace(tzinfo=UTC).timestamp() * 1000) for each in (begins_at, ends_at))
    async with command_store(load_settings()) as store, store.transaction() as tx:
        made = await announcements.announce(
            tx, begin, end, tuple(map(Part, parts)), text, by=actor(), now=system_clock()
        )
    print_line(_maintenance(made))


@maintenance.command("cancel")
@click.argument("number", type=int)
@async_command
async def cancel(number: int) -> None:
    """Cancel maintenance NUMBER, or end it before its time."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        found = await announcements.cancel(tx, number, by=actor(), now=system_clock())
    print_line(_maintenance(found))


@maintenance.command("list")
@async_command
async def list_maintenance() -> None:
    """Maintenance that is not over, by its beginning."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = await incidents.maintenance_since(tx, system_clock(), limit=_LISTED)
    print_list(list(map(_maintenance, found)), "no maintenance is announced")


@click.group()
def incident() -> None:
    """Incidents that anybody reads at /status."""


@incident.command("list")
@click.option("--all", "ended", is_flag=True, help="Ended incidents, too.")
@async_command
async def list_incidents(ended: bool) -> None:
    """Incidents: the number, from when until when, of which kind, and the last words on it."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = await incidents.opened(tx)
        if ended:
            found += await incidents.ended_since(tx, 0, limit=_LISTED)
    print_list(list(map(_incident, found)), "no incident" if ended else "no open incident")


@incident.command("note")
@click.argument("number", type=int)
@click.argument("text")
@async_command
async def note(number: int, text: str) -> None:
    """Add TEXT to incident NUMBER; it is published at once."""
    async with command_store(load_settings()) as store, store.transaction() as tx:
        noted = await announcements.note(tx, number, text, by=actor(), now=system_clock())
    print_line(_incident(noted))


def _maintenance(one: Maintenance) -> str:
    cancelled = f" (cancelled {iso_seconds(one.cancelled_at)})" if one.cancelled_at is not None else ""
    times = f"{iso_seconds(one.begins_at)} to {iso_seconds(one.ends_at)}"
    return f"{one.id} {times} {','.join(one.parts)}: {one.text}{cancelled}"


def _incident(one: Incident) -> str:
    until = f" until {iso_seconds(one.ended_at)}" if one.ended_at is not None else ""
    return f"{one.id} {iso_seconds(one.began_at)}{until} {one.kind}: {one.updates[-1].text}"
