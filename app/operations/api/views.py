"""Views of a match as operators see it: its markets, what a command would do, a command that waits for
consent, who sends its log.
"""

from collections import Counter
from typing import Any

import msgspec

from app.commands.execution import Preview
from app.domain.market import Market
from app.domain.match import Match
from app.domain.settlement import LedgerEntry
from app.domain.suspension_reasons import market_reason_code
from app.kit.clock import iso_millis
from app.store.consent_requests import ConsentRequest
from app.store.log_state import LogSender
from app.wire.text import iso_time_millis
from app.wire.views.match import MatchView, basic_view


class TradedMarket(msgspec.Struct, frozen=True):
    """An open market. `status` 1 is on offer, -1 suspended, for `reason` (code: `reason_code`); `group`
    names the markets of which exactly one wins; `probability` is the one that it is priced by, without
    margin."""

    market_id: int
    specifiers: str
    group: str
    status: int
    odds: str
    probability: float
    reason: str
    reason_code: str | None
    priced_at: str


class PreviewedMarket(msgspec.Struct, frozen=True):
    """A market that would change; `before` is None for a new one. Its status may also be settled (-3) or void
    (-4)."""

    before: TradedMarket | None
    after: TradedMarket


class PreviewedEntry(msgspec.Struct, frozen=True):
    """An entry that the ledger would get; `message` is the feed message that publishes it."""

    market_id: int
    specifiers: str
    previous_status: str
    new_status: str
    result: str | None
    reason: str
    message: str


class PreviewView(msgspec.Struct, frozen=True):
    """What a command would do now. `revision` is the match's before it; `envelopes` are the feed messages
    that it would cause, by name. `needs_consent`: it waits until a second person consents; `fingerprint` is
    that of its effect on results."""

    revision: int
    match: MatchView
    markets: tuple[PreviewedMarket, ...]
    entries: tuple[PreviewedEntry, ...]
    envelopes: dict[str, int]
    needs_consent: bool
    fingerprint: str


def preview_view(found: Preview) -> PreviewView:
    return PreviewView(
        revision=found.match.revision,
        match=basic_view(found.after),
        markets=tuple(
            PreviewedMarket(traded_market(one.before) if one.before else None, traded_market(one.after))
            for one in found.markets
        ),
        entries=tuple(_entry(one) for one in found.entries),
        envelopes=dict(Counter(one.message for one in found.envelopes)),
        needs_consent=found.needs_consent,
        fingerprint=found.fingerprint,
    )


def traded_market(market: Market) -> TradedMarket:
    return TradedMarket(
        market_id=market.type_id,
        specifiers=market.specifiers,
        group=market.group,
        status=market.status,
        odds=str(market.odds),
        probability=market.probability,
        reason=market.reason,
        reason_code=market_reason_code(market),
        priced_at=iso_millis(market.priced_at),
    )


def _entry(entry: LedgerEntry) -> PreviewedEntry:
    return PreviewedEntry(
        market_id=entry.type_id,
        specifiers=entry.specifiers,
        previous_status=entry.previous_status,
        new_status=entry.new_status,
        result=entry.result,
        reason=entry.reason,
        message=entry.message,
    )


class ConsentView(msgspec.Struct, frozen=True):
    """A command that `actor` sent, and that waits until `expires_at` for the consent of another person.
    `state` is waiting, given (it was executed, as the match's `revision`), refused, withdrawn (by who sent
    it) or expired."""

    id: int
    match_id: str
    at: str
    actor: str
    command: str
    fields: dict[str, Any]
    state: str
    expires_at: str
    decided_at: str | None
    decided_by: str | None
    reason: str
    revision: int | None


def consent_view(request: ConsentRequest, now: int) -> ConsentView:
    fields = msgspec.json.decode(request.command)
    return ConsentView(
        id=request.id,
        match_id=str(request.match_id),
        at=iso_millis(request.at),
        actor=request.actor,
        command=fields.pop("command"),
        fields=fields,
        state=request.state(now),
        expires_at=iso_millis(request.expires_at),
        decided_at=iso_time_millis(request.decided_at),
        decided_by=request.decided_by,
        reason=request.reason,
        revision=request.revision,
    )


class SourceView(msgspec.Struct, frozen=True):
    """A sender of a match's log. `source` is its name in commands; `server` stays the same when the server
    restarts, `instance` is its run; `peer` is the address of its requests. `state` is followed, refused
    (another is followed), dismissed (by an operator) or ended (another run or server replaced it); `why` is
    the reason why it is not followed, or why its rounds cannot be counted. `claims`: it sends play and
    suspends the match. `offset` is the end of its last bytes in its run, null where it sends none.
    `unread_lines` counts its lines about play that could not be parsed, `unread_line` is the newest of them.
    Neither that nor `last_line` has addresses and secrets."""

    source: str
    server: str
    instance: str
    peer: str
    map: str
    state: str
    why: str
    claims: bool
    first_seen: str
    last_seen: str
    offset: int | None
    last_line: str
    unread_lines: int
    unread_line: str


def source_view(match: Match, source: LogSender) -> SourceView:
    followed = source.state == "followed"
    return SourceView(
        source=source.source,
        server=source.server,
        instance=source.instance,
        peer=source.peer,
        map=source.map or (match.loaded if followed else ""),
        state=source.state,
        why=_uncounted(match) if followed else source.why,
        claims=source.claims,
        first_seen=iso_millis(source.first_seen),
        last_seen=iso_millis(source.last_seen),
        offset=source.end_offset,
        last_line=source.last_line,
        unread_lines=source.unread_lines,
        unread_line=source.unread_line,
    )


def _uncounted(match: Match) -> str:
    if not match.uncounted_rounds:
        return ""
    return f"{match.uncounted_rounds} rounds in a row could not be counted: {match.suspended}"
