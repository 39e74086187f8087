"""Rows of the change log for the channels, composed from a transaction; pure.

The order is part of the contract: events and rounds, the scoreboard, the fixture change, settlements in
ledger order, and last the group that one `odds_change` carries: that nothing is on offer any more, if so,
the match's summary, every changed market.
"""

from collections.abc import Iterable, Sequence

import msgspec

from app.domain import changes as c
from app.domain import frame_types
from app.domain.fixture import CANCELLATION, KICK_OFF, FixtureChange
from app.domain.ids import match_urn
from app.domain.market import ACTIVE, SUSPENDED, Book, Market, MarketStatus, market_name
from app.domain.match import Match, Status, summarize
from app.domain.settlement import LedgerEntry
from app.store.changes import BET_STOP, ChangeDraft

_encode = msgspec.json.Encoder().encode


def compose(
    before: Match | None,
    after: Match,
    changes: Sequence[c.MatchChange],
    book: Book,
    markets: Sequence[Market],
    entries: Sequence[LedgerEntry],
) -> list[ChangeDraft]:
    """All rows of one transaction. `before` is None for a new match; `book` holds the markets before it,
    `markets` the changed ones."""
    return [
        *(draft for change in changes for draft in _event_or_round(change)),
        *_scoreboard(before, after),
        *_fixture_changes(after, changes),
        *map(_settlement, entries),
        *_odds(before, after, changes, book, markets),
    ]


def _event_or_round(change: c.MatchChange) -> Iterable[ChangeDraft]:
    match change:
        case c.EventAdded(event):
            yield ChangeDraft("event", str(event.id), f"event.{event.type}", "", _encode(event))
        case c.EventAmended(event):
            yield ChangeDraft("event", str(event.id), "", "", _encode(event))
        case c.RoundLive():
            yield ChangeDraft("round", f"{change.map}:{change.round}", "round.started", "", _encode(change))
        case c.RoundFinished(played):
            yield ChangeDraft("round", str(played.id), "round.finished", "", _encode(played))
        case c.RoundsVoided(_, rounds):
            for played in rounds:
                void = msgspec.structs.replace(played, void=True)
                yield ChangeDraft("round", str(played.id), "", "", _encode(void))
        case c.RoundsReinstated(_, rounds):
            for played in rounds:
                yield ChangeDraft("round", str(played.id), "round.finished", "", _encode(played))


def _fixture_changes(match: Match, changes: Sequence[c.MatchChange]) -> Iterable[ChangeDraft]:
    for change in changes:
        if isinstance(change, c.MatchStarted | c.MatchCancelled):
            kind = KICK_OFF if isinstance(change, c.MatchStarted) else CANCELLATION
            yield ChangeDraft(
                "match", match_urn(match.number), "", "fixture_change", _encode(FixtureChange(kind))
            )


def _settlement(entry: LedgerEntry) -> ChangeDraft:
    return ChangeDraft("settlement", market_name(*entry.key), "bet_settlement", entry.message, entry=entry)


def _scoreboard(before: Match | None, after: Match) -> Iterable[ChangeDraft]:
    """A row that the scoreboard has changed; its content is in the match."""
    if before is not None and _board(before) != _board(after):
        yield ChangeDraft("scoreboard", match_urn(after.number), "scoreboard.frame", "", b"{}")


def _board(match: Match) -> tuple[object, ...] | None:
    """The content of the scoreboard; None while no round is being played."""
    play, current = match.map, match.current
    if play is None or current is None:
        return None
    score = (play.number, play.name, play.home_score, play.away_score, play.home_side)
    planted = any(event.type == "bomb_planted" for event in current.events)
    return (
        *score,
        current.number,
        current.phase,
        current.alive_home,
        current.alive_away,
        planted,
        match.loadouts,
    )


def _odds(
    before: Match | None,
    after: Match,
    changes: Sequence[c.MatchChange],
    book: Book,
    markets: Sequence[Market],
) -> Iterable[ChangeDraft]:
    if _stops(book, markets):
        yield ChangeDraft(BET_STOP, match_urn(after.number), "", "", b"{}")
    summary = summarize(after)
    frame = _match_frame(before, after, changes)
    if markets or before is None or summary != summarize(before):
        yield ChangeDraft("match", match_urn(after.number), frame, "odds_change", _encode(summary))
    elif frame:
        yield ChangeDraft("match", match_urn(after.number), frame, "", _encode(summary))
    for market in markets:
        frame = _market_frame(book.get(market.key), market)
        yield ChangeDraft("market", market_name(*market.key), frame, "odds_change", _encode(market))


def _stops(book: Book, markets: Sequence[Market]) -> bool:
    """Whether these changes suspend a market and leave none active."""
    if any(market.status is ACTIVE for market in markets):
        return False
    changed = {market.key for market in markets}
    suspends = any(
        market.status is SUSPENDED and (old := book.get(market.key)) and old.status is ACTIVE
        for market in markets
    )
    return suspends and not any(one.status is ACTIVE and key not in changed for key, one in book.items())


def _match_frame(before: Match | None, after: Match, changes: Sequence[c.MatchChange]) -> str:
    if before is None:
        return frame_types.CREATED
    if after.status is Status.FINISHED and before.status is not Status.FINISHED:
        return frame_types.FINISHED
    changed = summarize(after) != summarize(before) or _beyond_summary(after) != _beyond_summary(before)
    # Events that are void now, or count again, have no frame of their own.
    recounted = any(isinstance(change, c.RoundsVoided | c.RoundsReinstated) for change in changes)
    return frame_types.UPDATED if changed or recounted else ""


def _beyond_summary(match: Match) -> tuple[object, ...]:
    """The fields of the match resource that its summary lacks."""
    times = (match.scheduled_at, match.started_at, match.finished_at)
    return match.suspended, times, match.best_of, match.event, match.info, match.other_deaths


def _market_frame(old: Market | None, new: Market) -> str:
    if old is None:
        return frame_types.MARKET_CREATED
    if new.status is MarketStatus.SUSPENDED and old.status is not MarketStatus.SUSPENDED:
        return frame_types.MARKET_SUSPENDED
    if new.status is MarketStatus.ACTIVE and old.status is not MarketStatus.ACTIVE:
        return "market.unsuspended"
    return frame_types.MARKET_UPDATED
