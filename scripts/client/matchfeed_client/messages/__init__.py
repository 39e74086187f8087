"""Generated from `schemas/feed.xsd` by `python -m codegen`: do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum


@dataclass(frozen=True, slots=True, kw_only=True)
class Alive:
    """
    Sent every ten seconds: the producer is there.

    Attributes:
        product: The producer that speaks: an id of the producers
            catalogue.
        timestamp: When it was sent.
        subscribed: 0 when messages may have been missed: suspend, and
            start a recovery.
    """

    class Meta:
        name = "alive"

    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    subscribed: str = field(metadata={"type": "Attribute", "pattern": r"[01]"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledMarket:
    """
    A void market: all stakes go back.

    Attributes:
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
        void_reason_id: Why: an id of the void reasons catalogue.
        void_reason_params: What to put into the template of that
            reason: name=value, more than one separated by |.
    """

    class Meta:
        name = "cancelledMarket"

    id: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    specifiers: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*"}
    )
    void_reason_id: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    void_reason_params: None | str = field(default=None, metadata={"type": "Attribute"})


class Certainty(Enum):
    """
    How sure a result is.

    No other value is ever sent.

    Attributes:
        CONFIRMED: Confirmed: it follows from the game server's own log or
            from an operator, and no second message will confirm it. A
            rollback may still withdraw it.
    """

    CONFIRMED = 2


class ChangeType(Enum):
    """
    What changed in the life of a match.

    Attributes:
        KICKOFF: Kickoff: play has begun.
        CANCELLATION: Cancellation: the match will not be played (to the
            end).
    """

    KICKOFF = 1
    CANCELLATION = 3


class MarketStatus(Enum):
    """
    What may be done with a market.

    No other status is ever sent.

    Attributes:
        ACTIVE: Active: bets may be taken at the odds shown.
        INACTIVE: Inactive: not on offer, neither settled nor void.
        SUSPENDED: Suspended: stop taking bets at once; it may come
            back.
        SETTLED: Settled: decided; a bet_settlement tells the
            result.
        CANCELLED: Cancelled: void; a bet_cancel tells why.
    """

    ACTIVE = 1
    INACTIVE = 0
    SUSPENDED = -1
    SETTLED = -3
    CANCELLED = -4


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsOutcome:
    """
    What may happen, and its price.

    Attributes:
        id: The outcome, by its id in the market catalogue; a Counter-
            Strike market has one, 1.
        odds: The price; left out when the market is over.
        probabilities: The probability without margin.
        active: Whether bets on this outcome may be taken.
    """

    class Meta:
        name = "oddsOutcome"

    id: str = field(metadata={"type": "Attribute"})
    odds: None | Decimal = field(
        default=None, metadata={"type": "Attribute", "min_inclusive": Decimal("1"), "fraction_digits": 3}
    )
    probabilities: None | Decimal = field(
        default=None,
        metadata={
            "type": "Attribute",
            "min_inclusive": Decimal("0"),
            "max_inclusive": Decimal("1"),
            "fraction_digits": 6,
        },
    )
    active: str = field(metadata={"type": "Attribute", "pattern": r"[01]"})


class PeriodType(Enum):
    """
    What a period of a match is.

    Attributes:
        MAP: Map: one map of the series.
    """

    MAP = "map"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenedMarket:
    """
    A market whose settlement or void no longer stands.

    Attributes:
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
    """

    class Meta:
        name = "reopenedMarket"

    id: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    specifiers: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*"}
    )


class Result(Enum):
    """
    How an outcome ended.

    Attributes:
        WON: Won: it happened.
        LOST: Lost: it did not happen.
    """

    WON = 1
    LOST = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotComplete:
    """
    The end of a recovery.

    Attributes:
        product: The producer that speaks: an id of the producers
            catalogue.
        timestamp: When it ended.
        request_id: The recovery that ended.
    """

    class Meta:
        name = "snapshot_complete"

    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: str = field(metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"})


class StatusCode(Enum):
    """
    Where a match is in its life.

    The same codes say where one of its maps is.

    Attributes:
        NOT_STARTED: Not started: play has not begun.
        LIVE: Live: being played.
        CLOSED: Closed: finished, the result stands.
        CANCELLED: Cancelled: will not be played (to the end).
    """

    NOT_STARTED = 0
    LIVE = 1
    CLOSED = 4
    CANCELLED = 5


class StoppedGroups(Enum):
    """
    Groups of markets.

    No other value is ever sent.

    Attributes:
        ALL: All: every market of the match.
    """

    ALL = "all"


class Team(Enum):
    """
    Which of the two teams, by its place in the match.

    Attributes:
        HOME: Home: the team listed first.
        AWAY: Away: the team listed second.
    """

    HOME = 1
    AWAY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BetCancel:
    """
    Markets that are void.

    A settlement of the same market that came before no longer stands. With
    start_time and end_time only the bets placed from one to the other are
    void: the markets go on as they are, and so do their settlements.

    Attributes:
        market: One void market.
        product: The producer that speaks: an id of the producers
            catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a
            match, and no two of them share a millisecond; a settlement,
            void, rollback or fixture change that a recovery tells bears
            the stamp that it had.
        request_id: The recovery that this message answers; left out
            live.
        start_time: Only bets placed at or after this moment (Unix ms)
            are meant. Comes with end_time.
        end_time: Only bets placed at or before this moment (Unix ms)
            are meant: the status of the market does not change.
    """

    class Meta:
        name = "bet_cancel"

    market: tuple[CancelledMarket, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": "", "min_occurs": 1}
    )
    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    event_id: str = field(metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"}
    )
    start_time: None | int = field(default=None, metadata={"type": "Attribute", "min_inclusive": 0})
    end_time: None | int = field(default=None, metadata={"type": "Attribute", "min_inclusive": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class BetStop:
    """
    Nothing of a match is on offer any more.

    Live only, for tenants that have requested it, directly before the
    odds_change that lists the same markets one by one.

    Attributes:
        product: The producer that speaks: an id of the producers
            catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a
            match, and no two of them share a millisecond; a settlement,
            void, rollback or fixture change that a recovery tells bears
            the stamp that it had.
        request_id: The recovery that this message answers; left out
            live.
        groups: Which markets stop.
        market_status: The status that the active ones of them have now:
            -1.
    """

    class Meta:
        name = "bet_stop"

    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    event_id: str = field(metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"}
    )
    groups: StoppedGroups = field(metadata={"type": "Attribute"})
    market_status: MarketStatus = field(metadata={"type": "Attribute"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureChange:
    """
    A step in the life of a match.

    Attributes:
        product: The producer that speaks: an id of the producers
            catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a
            match, and no two of them share a millisecond; a settlement,
            void, rollback or fixture change that a recovery tells bears
            the stamp that it had.
        request_id: The recovery that this message answers; left out
            live.
        change_type: Which step.
    """

    class Meta:
        name = "fixture_change"

    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    event_id: str = field(metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"}
    )
    change_type: ChangeType = field(metadata={"type": "Attribute"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsMarket:
    """
    The present state of one market.

    Attributes:
        outcome: One outcome.
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
        favourite: 1 on both sides of the line that is nearest to evens,
            of the lines of one total or handicap that are active; left
            out on all others.
        status: What may be done with it.
    """

    class Meta:
        name = "oddsMarket"

    outcome: tuple[OddsOutcome, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": ""}
    )
    id: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    specifiers: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*"}
    )
    favourite: None | str = field(default=None, metadata={"type": "Attribute", "pattern": r"[01]"})
    status: MarketStatus = field(metadata={"type": "Attribute"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodScore:
    """
    The score of one map of the series.

    Attributes:
        type_value: The kind of period.
        number: Which map of the series, counted from 1.
        match_status_code: Whether this map is still to come, being
            played or over: the one sure sign of the current map.
        home_score: 1 when home won this map, else 0.
        away_score: 1 when away won this map, else 0.
        home_won_rounds: Rounds won by home on this map; left out until
            the map has begun.
        away_won_rounds: Rounds won by away on this map; left out until
            the map has begun.
    """

    class Meta:
        name = "periodScore"

    type_value: PeriodType = field(metadata={"name": "type", "type": "Attribute"})
    number: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    match_status_code: StatusCode = field(metadata={"type": "Attribute"})
    home_score: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    away_score: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    home_won_rounds: None | int = field(default=None, metadata={"type": "Attribute", "min_inclusive": 0})
    away_won_rounds: None | int = field(default=None, metadata={"type": "Attribute", "min_inclusive": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackBetCancel:
    """
    Voids that are taken back.

    With start_time and end_time it is the void of the bets placed from one
    to the other, and nothing else.

    Attributes:
        market: One market that is not void any more.
        product: The producer that speaks: an id of the producers
            catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a
            match, and no two of them share a millisecond; a settlement,
            void, rollback or fixture change that a recovery tells bears
            the stamp that it had.
        request_id: The recovery that this message answers; left out
            live.
        start_time: Only bets placed at or after this moment (Unix ms)
            are meant. Comes with end_time.
        end_time: Only bets placed at or before this moment (Unix ms)
            are meant: the status of the market does not change.
    """

    class Meta:
        name = "rollback_bet_cancel"

    market: tuple[ReopenedMarket, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": "", "min_occurs": 1}
    )
    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    event_id: str = field(metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"}
    )
    start_time: None | int = field(default=None, metadata={"type": "Attribute", "min_inclusive": 0})
    end_time: None | int = field(default=None, metadata={"type": "Attribute", "min_inclusive": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackBetSettlement:
    """
    Settlements that are taken back.

    Attributes:
        market: One market whose settlement no longer stands.
        product: The producer that speaks: an id of the producers
            catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a
            match, and no two of them share a millisecond; a settlement,
            void, rollback or fixture change that a recovery tells bears
            the stamp that it had.
        request_id: The recovery that this message answers; left out
            live.
    """

    class Meta:
        name = "rollback_bet_settlement"

    market: tuple[ReopenedMarket, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": "", "min_occurs": 1}
    )
    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    event_id: str = field(metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard:
    """
    The map being played.

    Attributes:
        current_ct_team: The team that plays the counter-terrorist side
            now; left out until the server says.
        home_won_rounds: Rounds won by home on the current map.
        away_won_rounds: Rounds won by away on the current map.
        current_round: The round being played, counted from 1 on each
            map; left out between rounds.
    """

    class Meta:
        name = "scoreboard"

    current_ct_team: None | Team = field(default=None, metadata={"type": "Attribute"})
    home_won_rounds: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    away_won_rounds: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    current_round: None | int = field(default=None, metadata={"type": "Attribute", "min_inclusive": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledOutcome:
    """
    How an outcome ended.

    Attributes:
        id: The outcome, by its id in the market catalogue.
        result: Won or lost.
    """

    class Meta:
        name = "settledOutcome"

    id: str = field(metadata={"type": "Attribute"})
    result: Result = field(metadata={"type": "Attribute"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsList:
    """
    Live: the markets that changed; what is not listed is as it was.

    In a recovery: all markets that are active or suspended, and if it was
    requested with `after`, of a match that is over also how every market
    ended.

    Attributes:
        market: One market.
    """

    class Meta:
        name = "oddsList"

    market: tuple[OddsMarket, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": ""}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodScores:
    """
    The maps of the series in the order of play.

    Attributes:
        period_score: One map.
    """

    class Meta:
        name = "periodScores"

    period_score: tuple[PeriodScore, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": ""}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledMarket:
    """
    A decided market.

    Attributes:
        outcome: One outcome and its result.
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
    """

    class Meta:
        name = "settledMarket"

    outcome: tuple[SettledOutcome, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": "", "min_occurs": 1}
    )
    id: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    specifiers: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStatus:
    """
    The state of a match.

    Attributes:
        period_scores: The score by map.
        scoreboard: The map being played, while one is.
        status: Where the match is in its life.
        match_status: The same, as an id of the match status dictionary.
        home_score: Maps won by home.
        away_score: Maps won by away.
        winner_id: The competitor that won; sent once the match is
            closed.
        scoreboard_available: Whether a scoreboard follows.
    """

    class Meta:
        name = "eventStatus"

    period_scores: None | PeriodScores = field(default=None, metadata={"type": "Element", "namespace": ""})
    scoreboard: None | Scoreboard = field(default=None, metadata={"type": "Element", "namespace": ""})
    status: StatusCode = field(metadata={"type": "Attribute"})
    match_status: StatusCode = field(metadata={"type": "Attribute"})
    home_score: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    away_score: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    winner_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"}
    )
    scoreboard_available: None | str = field(default=None, metadata={"type": "Attribute", "pattern": r"[01]"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementList:
    """
    Markets that were decided together.

    Attributes:
        market: One market.
    """

    class Meta:
        name = "settlementList"

    market: tuple[SettledMarket, ...] = field(
        default_factory=tuple, metadata={"type": "Element", "namespace": "", "min_occurs": 1}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BetSettlement:
    """
    Markets that are decided.

    The timestamp is that of the decision, on a replay too.

    Attributes:
        outcomes: The decided markets.
        product: The producer that speaks: an id of the producers
            catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a
            match, and no two of them share a millisecond; a settlement,
            void, rollback or fixture change that a recovery tells bears
            the stamp that it had.
        request_id: The recovery that this message answers; left out
            live.
        certainty: How sure the results are; left out by versions that
            did not say.
    """

    class Meta:
        name = "bet_settlement"

    outcomes: SettlementList = field(metadata={"type": "Element", "namespace": ""})
    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    event_id: str = field(metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"}
    )
    certainty: None | Certainty = field(default=None, metadata={"type": "Attribute"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsChange:
    """
    The state of a match, and markets of it: live those that changed, in a
    recovery the full list.

    Attributes:
        sport_event_status: The state of the match.
        odds: Its markets. Empty where only the state changed, and in a
            recovery where nothing is on offer.
        product: The producer that speaks: an id of the producers
            catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a
            match, and no two of them share a millisecond; a settlement,
            void, rollback or fixture change that a recovery tells bears
            the stamp that it had.
        request_id: The recovery that this message answers; left out
            live.
    """

    class Meta:
        name = "odds_change"

    sport_event_status: None | EventStatus = field(
        default=None, metadata={"type": "Element", "namespace": ""}
    )
    odds: OddsList = field(metadata={"type": "Element", "namespace": ""})
    product: int = field(metadata={"type": "Attribute", "min_inclusive": 1})
    event_id: str = field(metadata={"type": "Attribute", "pattern": r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}"})
    timestamp: int = field(metadata={"type": "Attribute", "min_inclusive": 0})
    request_id: None | str = field(
        default=None, metadata={"type": "Attribute", "pattern": r"[1-9][0-9]{0,63}"}
    )
