"""Generated from `schemas/feed.xsd` by `python -m codegen`: do not edit."""

from decimal import Decimal
from enum import IntEnum, StrEnum

import msgspec

from app.wire.generated.common import MARKET_STATUS_TEXT, EventStatus, MarketStatus, render_event_status
from app.wire.text import escaped, plain


class Certainty(IntEnum):
    """How sure a result is. No other value is ever sent."""

    #: It follows from the game server's own log or from an operator, and no second message will confirm it. A
    #:    rollback may still withdraw it.
    CONFIRMED = 2


CERTAINTY_TEXT = {Certainty.CONFIRMED: "2"}


class ChangeType(IntEnum):
    """What changed in the life of a match."""

    #: Play has begun.
    KICKOFF = 1
    #: The match will not be played (to the end).
    CANCELLATION = 3


CHANGE_TYPE_TEXT = {ChangeType.KICKOFF: "1", ChangeType.CANCELLATION: "3"}


class Result(IntEnum):
    """How an outcome ended."""

    #: It happened.
    WON = 1
    #: It did not happen.
    LOST = 0


RESULT_TEXT = {Result.WON: "1", Result.LOST: "0"}


class StoppedGroups(StrEnum):
    """Groups of markets. No other value is ever sent."""

    #: Every market of the match.
    ALL = "all"


STOPPED_GROUPS_TEXT = {StoppedGroups.ALL: "all"}


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    """Sent every ten seconds: the producer is there.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        timestamp: When it was sent.
        subscribed: 0 when messages may have been missed: suspend, and start a recovery.
    """

    product: int
    timestamp: int
    subscribed: bool


def write_alive(node: Alive) -> bytes:
    """The document `<alive>`."""
    return (
        f"<alive"
        f' product="{node.product}"'
        f' timestamp="{node.timestamp}"'
        f' subscribed="{"1" if node.subscribed else "0"}"'
        "/>"
    ).encode()


class CancelledMarket(msgspec.Struct, frozen=True, kw_only=True):
    """A void market: all stakes go back.

    Attributes:
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
        void_reason_id: Why: an id of the void reasons catalogue.
        void_reason_params: What to put into the template of that reason: name=value, more than one separated
            by |.
    """

    id: int
    specifiers: str | None = None
    void_reason_id: int
    void_reason_params: str | None = None


class OddsOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What may happen, and its price.

    Attributes:
        id: The outcome, by its id in the market catalogue; a Counter-Strike market has one, 1.
        odds: The price; left out when the market is over.
        probabilities: The probability without margin.
        active: Whether bets on this outcome may be taken.
    """

    id: str
    odds: Decimal | None = None
    probabilities: Decimal | None = None
    active: bool


class ReopenedMarket(msgspec.Struct, frozen=True, kw_only=True):
    """A market whose settlement or void no longer stands.

    Attributes:
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
    """

    id: int
    specifiers: str | None = None


class SnapshotComplete(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a recovery.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        timestamp: When it ended.
        request_id: The recovery that ended.
    """

    product: int
    timestamp: int
    request_id: str


def write_snapshot_complete(node: SnapshotComplete) -> bytes:
    """The document `<snapshot_complete>`."""
    return (
        f"<snapshot_complete"
        f' product="{node.product}"'
        f' timestamp="{node.timestamp}"'
        f' request_id="{escaped[node.request_id]}"'
        "/>"
    ).encode()


class BetCancel(msgspec.Struct, frozen=True, kw_only=True):
    """Markets that are void. A settlement of the same market that came before no longer stands. With
       start_time and end_time only the bets placed from one to the other are void: the markets go on as they
       are, and so do their settlements.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a match, and no two of them share a
            millisecond; a settlement, void, rollback or fixture change that a recovery tells bears the stamp
            that it had.
        request_id: The recovery that this message answers; left out live.
        start_time: Only bets placed at or after this moment (Unix ms) are meant. Comes with end_time.
        end_time: Only bets placed at or before this moment (Unix ms) are meant: the status of the market does
            not change.
        market: One void market.
    """

    product: int
    event_id: str
    timestamp: int
    request_id: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    market: tuple[CancelledMarket, ...]


def write_bet_cancel(node: BetCancel) -> bytes:
    """The document `<bet_cancel>`."""
    x_request_id = "" if node.request_id is None else f' request_id="{escaped[node.request_id]}"'
    x_start_time = "" if node.start_time is None else f' start_time="{node.start_time}"'
    x_end_time = "" if node.end_time is None else f' end_time="{node.end_time}"'
    x_market = ""
    for leaf in node.market:
        leaf_specifiers = "" if leaf.specifiers is None else f' specifiers="{escaped[leaf.specifiers]}"'
        leaf_void_reason_params = (
            ""
            if leaf.void_reason_params is None
            else f' void_reason_params="{escaped[leaf.void_reason_params]}"'
        )
        x_market += (
            "<market"
            f' id="{leaf.id}"'
            f"{leaf_specifiers}"
            f' void_reason_id="{leaf.void_reason_id}"'
            f"{leaf_void_reason_params}"
            "/>"
        )
    return (
        f"<bet_cancel"
        f' product="{node.product}"'
        f' event_id="{escaped[node.event_id]}"'
        f' timestamp="{node.timestamp}"'
        f"{x_request_id}"
        f"{x_start_time}"
        f"{x_end_time}"
        f">{x_market}</bet_cancel>"
    ).encode()


class BetStop(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing of a match is on offer any more. Live only, for tenants that have requested it, directly before
       the odds_change that lists the same markets one by one.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a match, and no two of them share a
            millisecond; a settlement, void, rollback or fixture change that a recovery tells bears the stamp
            that it had.
        request_id: The recovery that this message answers; left out live.
        groups: Which markets stop.
        market_status: The status that the active ones of them have now: -1.
    """

    product: int
    event_id: str
    timestamp: int
    request_id: str | None = None
    groups: StoppedGroups
    market_status: MarketStatus


def write_bet_stop(node: BetStop) -> bytes:
    """The document `<bet_stop>`."""
    x_request_id = "" if node.request_id is None else f' request_id="{escaped[node.request_id]}"'
    return (
        f"<bet_stop"
        f' product="{node.product}"'
        f' event_id="{escaped[node.event_id]}"'
        f' timestamp="{node.timestamp}"'
        f"{x_request_id}"
        f' groups="{STOPPED_GROUPS_TEXT[node.groups]}"'
        f' market_status="{MARKET_STATUS_TEXT[node.market_status]}"'
        "/>"
    ).encode()


class FixtureChange(msgspec.Struct, frozen=True, kw_only=True):
    """A step in the life of a match.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a match, and no two of them share a
            millisecond; a settlement, void, rollback or fixture change that a recovery tells bears the stamp
            that it had.
        request_id: The recovery that this message answers; left out live.
        change_type: Which step.
    """

    product: int
    event_id: str
    timestamp: int
    request_id: str | None = None
    change_type: ChangeType


def write_fixture_change(node: FixtureChange) -> bytes:
    """The document `<fixture_change>`."""
    x_request_id = "" if node.request_id is None else f' request_id="{escaped[node.request_id]}"'
    return (
        f"<fixture_change"
        f' product="{node.product}"'
        f' event_id="{escaped[node.event_id]}"'
        f' timestamp="{node.timestamp}"'
        f"{x_request_id}"
        f' change_type="{CHANGE_TYPE_TEXT[node.change_type]}"'
        "/>"
    ).encode()


class OddsMarket(msgspec.Struct, frozen=True, kw_only=True):
    """The present state of one market.

    Attributes:
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
        favourite: 1 on both sides of the line that is nearest to evens, of the lines of one total or handicap
            that are active; left out on all others.
        status: What may be done with it.
        outcome: One outcome.
    """

    id: int
    specifiers: str | None = None
    favourite: bool | None = None
    status: MarketStatus
    outcome: tuple[OddsOutcome, ...] = ()


def render_odds_market(node: OddsMarket) -> str:
    """The element `<market>`."""
    x_specifiers = "" if node.specifiers is None else f' specifiers="{escaped[node.specifiers]}"'
    x_favourite = "" if node.favourite is None else f' favourite="{"1" if node.favourite else "0"}"'
    x_outcome = ""
    for leaf in node.outcome:
        leaf_odds = "" if leaf.odds is None else f' odds="{plain(leaf.odds)}"'
        leaf_probabilities = (
            "" if leaf.probabilities is None else f' probabilities="{plain(leaf.probabilities)}"'
        )
        x_outcome += (
            "<outcome"
            f' id="{escaped[leaf.id]}"'
            f"{leaf_odds}"
            f"{leaf_probabilities}"
            f' active="{"1" if leaf.active else "0"}"'
            "/>"
        )
    content = f"{x_outcome}"
    end = f">{content}</market>" if content else "/>"
    return (
        f'<market id="{node.id}"{x_specifiers}{x_favourite} status="{MARKET_STATUS_TEXT[node.status]}"{end}'
    )


class RollbackBetCancel(msgspec.Struct, frozen=True, kw_only=True):
    """Voids that are taken back. With start_time and end_time it is the void of the bets placed from one to
       the other, and nothing else.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a match, and no two of them share a
            millisecond; a settlement, void, rollback or fixture change that a recovery tells bears the stamp
            that it had.
        request_id: The recovery that this message answers; left out live.
        start_time: Only bets placed at or after this moment (Unix ms) are meant. Comes with end_time.
        end_time: Only bets placed at or before this moment (Unix ms) are meant: the status of the market does
            not change.
        market: One market that is not void any more.
    """

    product: int
    event_id: str
    timestamp: int
    request_id: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    market: tuple[ReopenedMarket, ...]


def write_rollback_bet_cancel(node: RollbackBetCancel) -> bytes:
    """The document `<rollback_bet_cancel>`."""
    x_request_id = "" if node.request_id is None else f' request_id="{escaped[node.request_id]}"'
    x_start_time = "" if node.start_time is None else f' start_time="{node.start_time}"'
    x_end_time = "" if node.end_time is None else f' end_time="{node.end_time}"'
    x_market = ""
    for leaf in node.market:
        leaf_specifiers = "" if leaf.specifiers is None else f' specifiers="{escaped[leaf.specifiers]}"'
        x_market += f'<market id="{leaf.id}"{leaf_specifiers}/>'
    return (
        f"<rollback_bet_cancel"
        f' product="{node.product}"'
        f' event_id="{escaped[node.event_id]}"'
        f' timestamp="{node.timestamp}"'
        f"{x_request_id}"
        f"{x_start_time}"
        f"{x_end_time}"
        f">{x_market}</rollback_bet_cancel>"
    ).encode()


class RollbackBetSettlement(msgspec.Struct, frozen=True, kw_only=True):
    """Settlements that are taken back.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a match, and no two of them share a
            millisecond; a settlement, void, rollback or fixture change that a recovery tells bears the stamp
            that it had.
        request_id: The recovery that this message answers; left out live.
        market: One market whose settlement no longer stands.
    """

    product: int
    event_id: str
    timestamp: int
    request_id: str | None = None
    market: tuple[ReopenedMarket, ...]


def write_rollback_bet_settlement(node: RollbackBetSettlement) -> bytes:
    """The document `<rollback_bet_settlement>`."""
    x_request_id = "" if node.request_id is None else f' request_id="{escaped[node.request_id]}"'
    x_market = ""
    for leaf in node.market:
        leaf_specifiers = "" if leaf.specifiers is None else f' specifiers="{escaped[leaf.specifiers]}"'
        x_market += f'<market id="{leaf.id}"{leaf_specifiers}/>'
    return (
        f"<rollback_bet_settlement"
        f' product="{node.product}"'
        f' event_id="{escaped[node.event_id]}"'
        f' timestamp="{node.timestamp}"'
        f"{x_request_id}"
        f">{x_market}</rollback_bet_settlement>"
    ).encode()


class SettledOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an outcome ended.

    Attributes:
        id: The outcome, by its id in the market catalogue.
        result: Won or lost.
    """

    id: str
    result: Result


class OddsList(msgspec.Struct, frozen=True, kw_only=True):
    """Live: the markets that changed; what is not listed is as it was. In a recovery: all markets that are
       active or suspended, and if it was requested with `after`, of a match that is over also how every
       market ended.

    Attributes:
        market: One market.
    """

    market: tuple[OddsMarket, ...] = ()


def assemble_odds_list(*, market: str = "") -> str:
    """The element `<odds>` around children that are markup already."""
    content = f"{market}"
    end = f">{content}</odds>" if content else "/>"
    return f"<odds{end}"


def render_odds_list(node: OddsList) -> str:
    """The element `<odds>`."""
    x_market = "".join([render_odds_market(item) for item in node.market])
    return assemble_odds_list(market=x_market)


class SettledMarket(msgspec.Struct, frozen=True, kw_only=True):
    """A decided market.

    Attributes:
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
        outcome: One outcome and its result.
    """

    id: int
    specifiers: str | None = None
    outcome: tuple[SettledOutcome, ...]


def render_settled_market(node: SettledMarket) -> str:
    """The element `<market>`."""
    x_specifiers = "" if node.specifiers is None else f' specifiers="{escaped[node.specifiers]}"'
    x_outcome = ""
    for leaf in node.outcome:
        x_outcome += f'<outcome id="{escaped[leaf.id]}" result="{RESULT_TEXT[leaf.result]}"/>'
    return f'<market id="{node.id}"{x_specifiers}>{x_outcome}</market>'


class OddsChange(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a match, and markets of it: live those that changed, in a recovery the full list.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a match, and no two of them share a
            millisecond; a settlement, void, rollback or fixture change that a recovery tells bears the stamp
            that it had.
        request_id: The recovery that this message answers; left out live.
        sport_event_status: The state of the match.
        odds: Its markets. Empty where only the state changed, and in a recovery where nothing is on offer.
    """

    product: int
    event_id: str
    timestamp: int
    request_id: str | None = None
    sport_event_status: EventStatus | None = None
    odds: OddsList


def assemble_odds_change(
    *,
    product: int,
    event_id: str,
    timestamp: int,
    request_id: str | None = None,
    sport_event_status: str = "",
    odds: str,
) -> bytes:
    """The document `<odds_change>` around children that are markup already."""
    x_request_id = "" if request_id is None else f' request_id="{escaped[request_id]}"'
    return (
        f"<odds_change"
        f' product="{product}"'
        f' event_id="{escaped[event_id]}"'
        f' timestamp="{timestamp}"'
        f"{x_request_id}"
        f">{sport_event_status}{odds}</odds_change>"
    ).encode()


def write_odds_change(node: OddsChange) -> bytes:
    """The document `<odds_change>`."""
    x_sport_event_status = (
        "" if node.sport_event_status is None else render_event_status(node.sport_event_status)
    )
    x_odds = render_odds_list(node.odds)
    return assemble_odds_change(
        product=node.product,
        event_id=node.event_id,
        timestamp=node.timestamp,
        request_id=node.request_id,
        sport_event_status=x_sport_event_status,
        odds=x_odds,
    )


class SettlementList(msgspec.Struct, frozen=True, kw_only=True):
    """Markets that were decided together.

    Attributes:
        market: One market.
    """

    market: tuple[SettledMarket, ...]


def render_settlement_list(node: SettlementList) -> str:
    """The element `<outcomes>`."""
    x_market = "".join([render_settled_market(item) for item in node.market])
    return f"<outcomes>{x_market}</outcomes>"


class BetSettlement(msgspec.Struct, frozen=True, kw_only=True):
    """Markets that are decided. The timestamp is that of the decision, on a replay too.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match that the message is about.
        timestamp: When it was so. Rises with every live message of a match, and no two of them share a
            millisecond; a settlement, void, rollback or fixture change that a recovery tells bears the stamp
            that it had.
        request_id: The recovery that this message answers; left out live.
        certainty: How sure the results are; left out by versions that did not say.
        outcomes: The decided markets.
    """

    product: int
    event_id: str
    timestamp: int
    request_id: str | None = None
    certainty: Certainty | None = None
    outcomes: SettlementList


def write_bet_settlement(node: BetSettlement) -> bytes:
    """The document `<bet_settlement>`."""
    x_request_id = "" if node.request_id is None else f' request_id="{escaped[node.request_id]}"'
    x_certainty = "" if node.certainty is None else f' certainty="{CERTAINTY_TEXT[node.certainty]}"'
    x_outcomes = render_settlement_list(node.outcomes)
    return (
        f"<bet_settlement"
        f' product="{node.product}"'
        f' event_id="{escaped[node.event_id]}"'
        f' timestamp="{node.timestamp}"'
        f"{x_request_id}"
        f"{x_certainty}"
        f">{x_outcomes}</bet_settlement>"
    ).encode()
