"""Matches: create one, list them, send a log file to one, remove old ones."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import httpx

from app.access import log_tokens
from app.cli.connections import command_store, pricing_config
from app.cli.runtime import FILE, actor, async_command, load_settings, print_json
from app.commands import creation
from app.commands.creation import NewMatch
from app.domain.entrants import MAX_STRENGTH
from app.domain.ids import match_urn
from app.domain.match import Match, Status
from app.domain.recovery import LATE_MILLIS
from app.kit.clock import iso_seconds, system_clock
from app.sandbox.simulator.match_simulation import Pace
from app.sandbox.simulator.service_client import LogSender, read_log
from app.store import audit, ledger, log_state, matches
from app.store.connections import Store

_PROGRESS_LINES = 500
_DAY = 86_400_000
_STRENGTH = click.FloatRange(0, MAX_STRENGTH)


@click.group()
def match() -> None:
    """Matches."""


@match.command("create")
@click.argument("home")
@click.argument("away")
@click.option("--event", default="Showmatch", show_default=True, help="The tournament's name.")
@click.option("--best-of", type=click.Choice(["1", "3", "5"]), default="1", show_default=True)
@click.option("--in", "minutes", type=float, default=0.0, show_default=True, help="Minutes from now.")
@click.option("--home-strength", type=_STRENGTH, default=0.0, help="On the ranking's scale, e.g. 1650.")
@click.option("--away-strength", type=_STRENGTH, default=0.0)
@click.option("--allow-unrated", is_flag=True, help="Offer prices although a team has no strength.")
@click.option("--home-id", type=int, help="HOME's number, where several teams have that name.")
@click.option("--away-id", type=int)
@click.option("--tournament-id", type=int)
@click.option(
    "--rounds",
    "max_rounds",
    type=click.Choice(["24", "30"]),
    help="Of a map. Default: 24, until the log says.",
)
@click.option(
    "--overtime",
    "overtime_rounds",
    type=click.IntRange(0, 20),
    help="Rounds of an overtime, even; 0: none. Default: 6, until the log says.",
)
@async_command
async def match_create(
    best_of: str, minutes: float, max_rounds: str | None, overtime_rounds: int | None, **fields: Any
) -> None:
    """Create a match between HOME and AWAY; prints where its game server must send its log.

    While a team has no strength, from here or from an import, nothing is offered: `suspended` says so.
    `matchfeed match order MATCH rate` sets strengths, or allows prices without them.
    """
    settings, now = load_settings(), system_clock()
    if overtime_rounds is not None and overtime_rounds % 2:
        raise click.BadParameter("an overtime has an even number of rounds", param_hint="--overtime")
    new = NewMatch(
        best_of=int(best_of),
        scheduled_at=now + round(minutes * 60_000),
        max_rounds=int(max_rounds) if max_rounds else None,
        overtime_rounds=overtime_rounds,
        **fields,
    )
    async with command_store(settings) as store:
        made = await creation.create_match(store, new, now, pricing_config(settings), by=actor())
    sink_url = log_tokens.address(settings.secret_key, settings.public_url, made)
    print_json(_match_view(made) | {"log_sink_url": sink_url})


@match.command("list")
@click.option("--status", type=click.Choice([status.value for status in Status]), multiple=True)
@click.option("--limit", default=50, show_default=True)
@async_command
async def match_list(status: tuple[str, ...], limit: int) -> None:
    """Matches, newest first."""
    statuses = [Status(value) for value in status] or list(Status)
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        print_json(
            [
                _match_view(each)
                for each in await matches.listing(tx, statuses, limit=limit, newest_first=True)
            ]
        )


@match.command("send-log")
@click.argument("file", type=FILE)
@click.option("--match", "ref", required=True, help="The match's UUID or od:match:<n>.")
@click.option("--speed", type=click.FloatRange(min=0.1), default=1.0, show_default=True)
@click.option("--base-url", help="The service's address (default: the setting PUBLIC_URL).")
@click.option(
    "--server", help="The name of the game server, which stays when it restarts (default: a new one)."
)
@click.option("--run", "first_run", help="The name of this run of the server (default: a new one).")
@async_command
async def send_log(
    file: Path, ref: str, speed: float, base_url: str | None, server: str | None, first_run: str | None
) -> None:
    """Send the log FILE (plain or .gz) to a match as its game server would, SPEED times as fast.

    A match follows one server. To go on with its log, name the same --server, as `match sources` shows it.
    """
    settings = load_settings()
    async with command_store(settings) as store, store.autocommit() as tx:
        found = await matches.by_ref(tx, ref)
        senders = await log_state.senders(tx, found.id)
    current = next((one for one in senders if one.state == "followed"), None)
    if current is not None and server != current.server:
        raise click.ClickException(
            f"{match_urn(found.number)} follows the log of server {current.server}: another server would be "
            f"refused. To go on as this one, add --server {current.server}; to change the server, see "
            "`matchfeed match order REF follow_source`."
        )
    lines = list(read_log(file))
    url = log_tokens.address(settings.secret_key, base_url or settings.public_url, found)
    async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
        sender = LogSender(client, url, server or uuid4().hex, first_run=first_run or uuid4().hex)
        printed = 0

        def print_progress() -> None:
            nonlocal printed
            if sender.lines - printed >= _PROGRESS_LINES or sender.lines == len(lines):
                printed = sender.lines
                click.echo(f"{printed}/{len(lines)} lines, {sender.offset} bytes", err=True)

        await sender.send(lines, Pace(speed), print_progress)
    click.echo(f"sent {sender.lines} lines ({sender.offset} bytes) to {match_urn(found.number)}")


@match.command("forget")
@click.option("--older-than", "days", type=click.FloatRange(min=0), required=True, help="Days since the end.")
@async_command
async def match_forget(days: float) -> None:
    """Delete matches that ended more than so many days ago, with history, ledger, statistics and all.

    In a sandbox `POST /ops/v1/trim` deletes all but the newest, by number.

    A match that a recovery may still replay is not removed.
    """
    settings = load_settings()
    millis = round(days * _DAY)
    least = settings.recovery_window_minutes * 60_000 + 2 * LATE_MILLIS  # for those that begin late
    if millis < least:
        raise click.ClickException(
            f"recoveries reach back too far for that: {least / _DAY:.2f} days at least"
        )
    gone = 0
    async with command_store(settings) as store:
        before = system_clock() - millis
        await _require_leaves(store, before)
        while page := await _forget(store, before, days):
            gone += page
    click.echo(f"{gone} matches removed")


async def _require_leaves(store: Store, before: int) -> None:
    """Refuse to delete settlements that the signed ledger does not have yet."""
    async with store.autocommit() as tx:
        oldest = await ledger.oldest_without_leaf(tx, await ledger.reached(tx))
    if oldest is not None and oldest < before:
        raise click.ClickException(
            f"the signed ledger lacks settlements since {iso_seconds(oldest)}: start a feed process first"
        )


async def _forget(store: Store, before: int, days: float) -> int:
    async with store.transaction() as tx:
        gone = await matches.trim(tx, before)
        await audit.add_removed(tx, gone, "match.forget", {"older_than": days}, actor(), system_clock())
    return len(gone)


def _match_view(each: Match) -> dict[str, object]:
    return {
        "id": str(each.id),
        "urn": match_urn(each.number),
        "home": each.home,
        "away": each.away,
        "event": each.event,
        "best_of": each.best_of,
        "status": each.status.value,
        "suspended": each.suspended,
        "score": f"{each.score_home}:{each.score_away}",
        "scheduled_at": iso_seconds(each.scheduled_at) if each.scheduled_at else None,
    }
