"""The messages of the feed, as `schemas/feed.xsd` describes them."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from typing import TypedDict, TypeVar

from msgspec.structs import asdict

from app.domain.catalogue import OUTCOME_ID, VOID_REASON_PARAM
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import MatchSummary
from app.domain.settlement import LedgerEntry
from app.wire.generated import common, feed
from app.wire.xml import match_state

Value = TypeVar("Value", bound=Hashable)
OUTCOME = str(OUTCOME_ID)
VOID_REASON = 4  #: what a void carries when its entry names no other reason
#: An operator's reason may contain what separates parameters.
_WITHOUT_SEPARATORS = str.maketrans({"|": "/", "=": ":"})
_RESULT: dict[Result | None, feed.Result] = {Result.WON: feed.Result.WON, Result.LOST: feed.Result.LOST}
_STATUS = {status: common.MarketStatus(status) for status in MarketStatus}


def odds_change(
    event_id: str,
    product: int,
    timestamp: int,
    status: MatchSummary | None,
    markets: Sequence[Market],
    request_id: str | None = None,
    *,
    probabilities: bool = False,
) -> bytes:
    """The state of a match (left out for None) and of `markets`, with their `probabilities` or without;
    `timestamp` in Unix ms.

    Rendered markets and states are cached: the same one in another envelope, as in every replay, costs a
    look-up. The bytes are the same either way.
    """
    rendered = _offers_with_probabilities if probabilities else _offers
    return feed.assemble_odds_change(
        product=product,
        event_id=event_id,
        timestamp=timestamp,
        request_id=request_id,
        sport_event_status=_states[status] if status else "",
        odds=feed.assemble_odds_list(market="".join(map(rendered.__getitem__, markets))),
    )


def bet_stop(event_id: str, product: int, timestamp: int) -> bytes:
    """Every active market of a match is suspended; `timestamp` in Unix ms."""
    return feed.write_bet_stop(
        feed.BetStop(
            product=product,
            event_id=event_id,
            timestamp=timestamp,
            groups=feed.StoppedGroups.ALL,
            market_status=common.MarketStatus.SUSPENDED,
        )
    )


class _Head(TypedDict):
    """What every message about a match says."""

    product: int
    event_id: str
    timestamp: int
    request_id: str | None


def ledger_message(
    message: str,
    event_id: str,
    product: int,
    timestamp: int,
    entries: Sequence[LedgerEntry],
    request_id: str | None = None,
) -> bytes:
    """Markets whose settlement changed in the same way: the one that `message` names.

    Of a `bet_settlement` each entry's result is won or lost. A `bet_cancel` voids markets as a whole, or the
    bets of one window, and its rollback is of all of one window or of none.
    """
    head = _Head(product=product, event_id=event_id, timestamp=timestamp, request_id=request_id)
    match message:
        case "bet_settlement":
            outcomes = feed.SettlementList(market=tuple([_settled_market(entry) for entry in entries]))
            return feed.write_bet_settlement(
                feed.BetSettlement(**head, certainty=feed.Certainty.CONFIRMED, outcomes=outcomes)
            )
        case "bet_cancel":
            cancelled = tuple([_cancelled_market(entry) for entry in entries])
            return feed.write_bet_cancel(feed.BetCancel(**head, **_window(entries), market=cancelled))
        case "rollback_bet_settlement":
            return feed.write_rollback_bet_settlement(
                feed.RollbackBetSettlement(**head, market=_reopened_markets(entries))
            )
        case "rollback_bet_cancel":
            return feed.write_rollback_bet_cancel(
                feed.RollbackBetCancel(**head, **_window(entries), market=_reopened_markets(entries))
            )
    raise ValueError(f"{message!r} is no message about settlements")


def fixture_change(
    event_id: str, product: int, timestamp: int, change_type: int, request_id: str | None = None
) -> bytes:
    """A step in a match's life: 1 kickoff, 3 cancellation; any other is a ValueError."""
    return feed.write_fixture_change(
        feed.FixtureChange(
            product=product,
            event_id=event_id,
            timestamp=timestamp,
            request_id=request_id,
            change_type=feed.ChangeType(change_type),
        )
    )


def alive(product: int, timestamp: int, subscribed: bool) -> bytes:
    """The heartbeat; `subscribed` False means that messages may have been missed."""
    return feed.write_alive(feed.Alive(product=product, timestamp=timestamp, subscribed=subscribed))


def snapshot_complete(product: int, timestamp: int, request_id: str) -> bytes:
    """The end of the recovery `request_id`."""
    return feed.write_snapshot_complete(
        feed.SnapshotComplete(product=product, timestamp=timestamp, request_id=request_id)
    )


def odds_market(market: Market, *, probabilities: bool = False) -> feed.OddsMarket:
    """A market that is over has no odds and no probability; only the outcome of an active one is active, and
    only an active one is a favourite."""
    status = _STATUS[market.status]
    outcome = feed.OddsOutcome(
        id=OUTCOME,
        odds=market.odds if market.open else None,
        probabilities=as_decimal(market.probability) if probabilities and market.open else None,
        active=status is common.MarketStatus.ACTIVE,
    )
    return feed.OddsMarket(
        id=market.type_id,
        specifiers=market.specifiers or None,
        favourite=True if market.favourite and outcome.active else None,
        status=status,
        outcome=(outcome,),
    )


def as_decimal(probability: float) -> Decimal:
    """A probability as documents have it."""
    return Decimal(f"{probability:.6f}")


def _window(entries: Sequence[LedgerEntry]) -> dict[str, int]:
    """The attributes of the window that all `entries` share; ValueError when they do not share one."""
    windows = {entry.void_window for entry in entries}
    if len(windows) > 1:
        raise ValueError("an envelope has one window")
    return {name: value for window in windows if window for name, value in asdict(window).items()}


def _settled_market(entry: LedgerEntry) -> feed.SettledMarket:
    if entry.result not in _RESULT:
        raise ValueError(f"a settlement is won or lost, not {entry.result}")
    return feed.SettledMarket(
        id=entry.type_id,
        specifiers=entry.specifiers or None,
        outcome=(feed.SettledOutcome(id=OUTCOME, result=_RESULT[entry.result]),),
    )


def _cancelled_market(entry: LedgerEntry) -> feed.CancelledMarket:
    return feed.CancelledMarket(
        id=entry.type_id,
        specifiers=entry.specifiers or None,
        void_reason_id=VOID_REASON if entry.void_reason_id is None else entry.void_reason_id,
        void_reason_params=_void_reason_params(entry.reason),
    )


def _void_reason_params(reason: str) -> str | None:
    """What fills `{reason}` in the templates of the void reasons; None where there is no reason."""
    return f"{VOID_REASON_PARAM}={reason.translate(_WITHOUT_SEPARATORS)}" if reason else None


def _reopened_markets(entries: Iterable[LedgerEntry]) -> tuple[feed.ReopenedMarket, ...]:
    return tuple(
        [feed.ReopenedMarket(id=entry.type_id, specifiers=entry.specifiers or None) for entry in entries]
    )


def event_status(head: MatchSummary) -> common.EventStatus:
    """The state of a match as the feed publishes it."""
    code = common.StatusCode(head.status.code)
    board = match_state.scoreboard(head)
    return common.EventStatus(
        status=code,
        match_status=code,
        home_score=head.score_home,
        away_score=head.score_away,
        winner_id=match_state.winner_id(head, head.home_id, head.away_id),
        scoreboard_available=board is not None,
        period_scores=match_state.period_scores(head),
        scoreboard=board,
    )


class MarkupCache(dict[Value, str]):
    """Markup by the frozen value that it shows; `cache[value]` renders on a miss.

    Values are compared by content, so a value that is read again from the database finds the markup of its
    equal. At `entries` the cache is cleared: cheaper than tracking ages, and each value in use is rendered
    once more.
    """

    def __init__(self, render: Callable[[Value], str], *, entries: int) -> None:
        super().__init__()
        self._render = render
        self._entries = entries

    def __missing__(self, value: Value) -> str:
        if len(self) >= self._entries:
            self.clear()
        markup = self[value] = self._render(value)
        return markup


_offers = MarkupCache[Market](lambda market: feed.render_odds_market(odds_market(market)), entries=16_384)
_offers_with_probabilities = MarkupCache[Market](
    lambda market: feed.render_odds_market(odds_market(market, probabilities=True)), entries=16_384
)
_states = MarkupCache[MatchSummary](
    lambda head: common.render_event_status(event_status(head)), entries=1_024
)


def clear_caches() -> None:
    """Clear the caches, to measure what they save."""
    _offers.clear()
    _offers_with_probabilities.clear()
    _states.clear()
