"""Alerts, on the command line."""

import click

from app.cli.connections import command_store
from app.cli.runtime import actor, async_command, load_settings, print_line, print_list
from app.commands import alert_handling
from app.commands.alert_handling import AnyAlertCommand, End, HandBack, See, Take
from app.domain.ids import match_urn
from app.kit.clock import iso_seconds, system_clock
from app.store import alerts as stored_alerts
from app.store import matches
from app.store.alerts import Alert, AlertKind
from app.store.transaction import Tx


@click.command()
@click.option("--all", "ended", is_flag=True, help="Ended alerts, too.")
@click.option("--kind", type=click.Choice([kind.value for kind in AlertKind]), multiple=True)
@click.option("--match", "ref", help="Only of this match: its UUID or od:match:<n>.")
@click.option("--limit", default=50, show_default=True)
@async_command
async def alerts(ended: bool, kind: tuple[str, ...], ref: str | None, limit: int) -> None:
    """Alerts for operators, newest first: the number, since when, of which kind, about what, the detail, and
    who has seen, taken and ended it."""
    kinds = [AlertKind(value) for value in kind] or list(AlertKind)
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        match_id = (await matches.by_ref(tx, ref)).id if ref else None
        found = await stored_alerts.listing(
            tx, kinds=kinds, match_id=match_id, ended=None if ended else False, limit=limit
        )
        urns = await _urns(tx, found)
    print_list([_line(each, urns) for each in found], "no alert" if ended else "no open alert")


@click.group()
def alert() -> None:
    """What you do about an open alert, by its number in `matchfeed alerts`."""


@alert.command("see")
@click.argument("number", type=int)
@async_command
async def see_alert(number: int) -> None:
    """Note that you have seen alert NUMBER; the first one stays on record."""
    await _handle(number, See())


@alert.command("take")
@click.argument("number", type=int)
@click.option("--instead-of", default="", help="Who has it now, as `matchfeed alerts` names them.")
@async_command
async def take_alert(number: int, instead_of: str) -> None:
    """Take alert NUMBER: you work on it. Refused if somebody else has it."""
    await _handle(number, Take(instead_of=instead_of))


@alert.command("hand-back")
@click.argument("number", type=int)
@async_command
async def hand_back_alert(number: int) -> None:
    """Hand alert NUMBER back, which you have taken."""
    await _handle(number, HandBack())


@alert.command("end")
@click.argument("number", type=int)
@async_command
async def end_alert(number: int) -> None:
    """End alert NUMBER, if it is of a kind that does not end with its cause."""
    await _handle(number, End())


async def _handle(number: int, command: AnyAlertCommand) -> None:
    async with command_store(load_settings()) as store:
        after = await alert_handling.handle(store, number, command, by=actor(), now=system_clock())
        async with store.autocommit() as tx:
            urns = await _urns(tx, [after])
    print_line(_line(after, urns))


async def _urns(tx: Tx, found: list[Alert]) -> dict[object, str]:
    ids = {alert.match_id for alert in found if alert.match_id}
    return {match.id: match_urn(match.number) for match in await matches.by_ids(tx, ids)}


def _line(alert: Alert, urns: dict[object, str]) -> str:
    until = f" until {iso_seconds(alert.ended_at)}" if alert.ended_at is not None else ""
    about = " ".join(filter(None, (urns.get(alert.match_id, ""), alert.tenant, alert.subject)))
    return f"{alert.id} {iso_seconds(alert.since)}{until} {alert.kind} {about}: {alert.detail}{_who(alert)}"


def _who(alert: Alert) -> str:
    """Who has seen, taken and ended it, and when."""
    done = {
        "seen": (alert.seen_by, alert.seen_at),
        "taken": (alert.taken_by, alert.taken_at),
        "ended": (alert.ended_by, alert.ended_at),
    }
    parts = [f"{verb} by {who} at {iso_seconds(at)}" for verb, (who, at) in done.items() if who and at]
    return f" ({', '.join(parts)})" if parts else ""
