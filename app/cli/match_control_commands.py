"""Commands of operators on a match, and those that wait for the consent of a second person; a match's audit
log, its log sources, and the check of its settlements.

The names of functions are those of operators' API; the words on the command line differ: `match order` is
`match_command`, `match record` is `match_audit`, and `audit` is `settlement_check`.
"""

import json
from typing import Any

import click
import msgspec

from app.cli.connections import command_store, pricing_config
from app.cli.runtime import actor, async_command, load_settings, print_json, print_line, print_list
from app.commands.command_service import CommandService
from app.commands.execution import Preview, Sender
from app.commands.match_commands import OnMarket
from app.commands.settlement_audit import audit_settlements
from app.commands.trading_commands import AnyCommand, OfMarket
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status
from app.kit.clock import iso_millis, iso_seconds, system_clock
from app.kit.errors import Field, Invalid
from app.operations.api.views import source_view
from app.settings import Settings
from app.store import audit, consent_requests, log_state, markets, matches
from app.store.connections import Store
from app.store.consent_requests import ConsentRequest, ConsentState


@click.command("order")
@click.argument("match")
@click.argument("command")
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...")
@async_command
async def match_command(match: str, command: str, fields: tuple[str, ...]) -> None:
    """Execute COMMAND on MATCH (its UUID or od:match:<n>): the same as POST /ops/v1/matches/MATCH/commands.
    One that changes a result published long ago waits for `matchfeed consent`.

    \b
    matchfeed match order od:match:7 schedule scheduled_at=1924992000000
    matchfeed match order od:match:7 award_map winner=team_a request_id=ticket-12
    matchfeed match order od:match:7 settle_market market_id=13 \\
        specifiers='map=1|round=3|team=home' result=lost reason='wrong call'

    A value that is JSON is read as JSON, anything else as text.
    """
    settings = load_settings()
    parsed = _command({"command": command} | dict(map(_field, fields)))
    async with command_store(settings) as store:
        after = await command_service(store, settings).send(match, parsed, sender(), system_clock())
        if isinstance(after, ConsentRequest):
            click.echo(waiting_line(after))
            return
        async with store.autocommit() as tx:
            book = await markets.book(tx, after.id) if isinstance(parsed, OnMarket | OfMarket) else {}
    print_line(_match_line(after))
    if isinstance(parsed, OnMarket | OfMarket) and parsed.key in book:
        market = book[parsed.key]
        click.echo(f"{_market_title(market)}: {_market_state(market)}")


@click.command("preview")
@click.argument("match")
@click.argument("command")
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...")
@async_command
async def preview_command(match: str, command: str, fields: tuple[str, ...]) -> None:
    """Print what COMMAND would do to MATCH, without executing it: markets, ledger entries, envelopes."""
    settings = load_settings()
    parsed = _command({"command": command} | dict(map(_field, fields)))
    async with command_store(settings) as store:
        found = await command_service(store, settings).preview(match, parsed, sender(), system_clock())
    print_preview(found)
    if found.needs_consent:
        click.echo("a second person must consent before it is executed")


def command_service(store: Store, settings: Settings) -> CommandService:
    return CommandService(store, pricing_config(settings), settings.consent_seconds)


def sender() -> Sender:
    """Who runs this command, in whose name it is sent."""
    return Sender(actor(), actor())


def waiting_line(request: ConsentRequest) -> str:
    """What its sender, and who may consent, are told of a command that waits."""
    until = iso_seconds(request.expires_at)
    return f"consent {request.id}: {request.name} waits for a second person until {until}"


def print_preview(found: Preview) -> None:
    """Print what a command would do: a line for each market, entry and envelope."""
    for moved in found.markets:
        before = f"{_market_state(moved.before)} → " if moved.before else "new: "
        click.echo(f"{_market_title(moved.after)}: {before}{_market_state(moved.after)}")
    for entry in found.entries:
        click.echo(f"ledger: {entry.message} of market {entry.type_id} {entry.specifiers}")
    for envelope in found.envelopes:
        click.echo(f"envelope: {envelope.message}, {envelope.markets} markets")


def _match_line(match: Match) -> str:
    line = f"{match_urn(match.number)} is {match.status} {match.score_home}:{match.score_away}"
    if match.status in (Status.DISCOVERED, Status.UPCOMING) and match.scheduled_at is not None:
        line += f", scheduled {iso_seconds(match.scheduled_at)}"
    return f"{line}, suspended: {match.suspended}" if match.suspended else line


def _market_title(market: Market) -> str:
    return f"market {market.type_id} {market.specifiers}"


def _market_state(market: Market) -> str:
    return {
        MarketStatus.ACTIVE: f"open @{market.odds}",
        MarketStatus.SUSPENDED: f"suspended: {market.reason}",
        MarketStatus.INACTIVE: "not on offer any more",
        MarketStatus.SETTLED: f"settled: {market.result}",
        MarketStatus.CANCELLED: f"void, reason {market.void_reason_id}",
    }[market.status]


def _field(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Invalid(Field((text,), "Write FIELD=VALUE.", "value_error", text))
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _command(fields: dict[str, Any]) -> AnyCommand:
    try:
        command: AnyCommand = msgspec.convert(fields, AnyCommand)
    except msgspec.ValidationError as error:
        raise Invalid(Field((str(fields["command"]),), str(error), "value_error")) from error
    return command


@click.command("record")
@click.argument("match")
@click.option("--limit", default=100, show_default=True)
@async_command
async def match_audit(match: str, limit: int) -> None:
    """The audit records of MATCH: operators' commands on it, newest first."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = await audit.about(tx, str((await matches.by_ref(tx, match)).id), limit=limit)
    print_json([msgspec.to_builtins(each) | {"at": iso_millis(each.at)} for each in found])


@click.command("sources")
@click.argument("match")
@async_command
async def match_sources(match: str) -> None:
    """The sources of MATCH's log: which one is followed, and why the others are not.

    `matchfeed match order MATCH follow_source source=NAME` makes it follow another.
    """
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = await matches.by_ref(tx, match)
        known = await log_state.senders(tx, found.id)
    print_json([msgspec.to_builtins(source_view(found, each)) for each in known])


@click.command("audit")
@click.argument("match")
@async_command
async def settlement_check(match: str) -> None:
    """Recompute every settlement of MATCH from its stored facts; print differences, and fail if there are
    any."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = await matches.by_ref(tx, match)
        audited = await audit_settlements(tx, found)
    for each in audited.differences:
        print_line(f"market {each.type_id} {each.specifiers}: {each.problem}")
    count = len(audited.differences)
    summary = f"{match_urn(found.number)}: {audited.entries} ledger entries, {count} differences"
    if count:
        raise click.ClickException(summary)
    click.echo(summary)


@click.group("consent")
def consents() -> None:
    """Commands that change results published long ago, and wait for a second person (CONSENT_SECONDS)."""


@consents.command("list")
@click.option("--all", "decided", is_flag=True, help="Those that wait no more, too.")
@click.option("--limit", default=50, show_default=True)
@async_command
async def list_consents(decided: bool, limit: int) -> None:
    """Commands that wait for consent."""
    now = system_clock()
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = (
            await consent_requests.listing(tx, limit=limit)
            if decided
            else await consent_requests.waiting(tx, now)
        )
    lines = [_request_line(each, now) for each in found]
    print_list(lines, "no command" if decided else "no command waits for consent")


@consents.command("show")
@click.argument("number", type=int)
@async_command
async def show_consent(number: int) -> None:
    """What command NUMBER would do now, and the FINGERPRINT of that, by which `give` knows what you saw."""
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store:
        shown = await command_service(store, settings).show(number, now)
    request, found, obstacle = shown
    print_line(_request_line(request, now))
    if obstacle is not None:
        raise obstacle
    if found is None:
        return
    print_preview(found)
    if found.fingerprint != request.fingerprint:
        click.echo("its effect is another one than when it was sent")
    click.echo(f"fingerprint: {found.fingerprint}")


@consents.command("give")
@click.argument("number", type=int)
@click.argument("fingerprint")
@async_command
async def give_consent(number: int, fingerprint: str) -> None:
    """Consent to command NUMBER, which another person sent: it is executed."""
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store:
        after = await command_service(store, settings).give(number, fingerprint, sender(), now)
    print_line(_request_line(after, now))


@consents.command("refuse")
@click.argument("number", type=int)
@click.option("--reason", default="", help="It is recorded.")
@async_command
async def refuse_consent(number: int, reason: str) -> None:
    """Refuse consent to command NUMBER, or withdraw one that you sent: it is never executed."""
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store:
        after = await command_service(store, settings).refuse(number, reason, sender(), now)
    print_line(_request_line(after, now))


def _request_line(request: ConsentRequest, now: int) -> str:
    fields = msgspec.json.decode(request.command)
    hidden = ("command", "request_id")
    given = " ".join(f"{name}={value}" for name, value in fields.items() if value and name not in hidden)
    return f"{_request_state(request, now)} (sent by {request.actor} at {iso_seconds(request.at)}: {given})"


def _request_state(request: ConsentRequest, now: int) -> str:
    state = request.state(now)
    if state is ConsentState.WAITING:
        return waiting_line(request)
    by = f" by {request.decided_by}" if request.decided_by else ""
    return f"consent {request.id}: {request.name} {state}{by}"
