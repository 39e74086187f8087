"""Alerts, on the command line."""

import click

from app.cli.runtime import async_command, command_store, load_settings
from app.domain.ids import match_urn
from app.kit.clock import iso_seconds
from app.kit.control_characters import escape_control_characters
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
    """Alerts for operators, newest first: since when, of which kind, about what, and the detail."""
    kinds = [AlertKind(value) for value in kind] or list(AlertKind)
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        match_id = (await matches.by_ref(tx, ref)).id if ref else None
        found = await stored_alerts.listing(
            tx, kinds=kinds, match_id=match_id, ended=None if ended else False, limit=limit
        )
        urns = await _urns(tx, found)
    for each in found:
        click.echo(escape_control_characters(_line(each, urns)))
    if not found:
        click.echo("no alert" if ended else "no open alert")


async def _urns(tx: Tx, found: list[Alert]) -> dict[object, str]:
    ids = {alert.match_id for alert in found if alert.match_id}
    return {match.id: match_urn(match.number) for match in await matches.by_ids(tx, ids)}


def _line(alert: Alert, urns: dict[object, str]) -> str:
    until = f" until {iso_seconds(alert.ended_at)}" if alert.ended_at is not None else ""
    about = " ".join(filter(None, (urns.get(alert.match_id, ""), alert.tenant, alert.subject)))
    return f"{iso_seconds(alert.since)}{until} {alert.kind} {about}: {alert.detail}"
