"""Generated from `schemas/facade.xsd` by `python -m codegen`: do not edit."""

from datetime import date
from decimal import Decimal
from enum import IntEnum, StrEnum

import msgspec

from app.wire.generated.common import (
    MARKET_STATUS_TEXT,
    STATUS_CODE_TEXT,
    EventStatus,
    MarketStatus,
    PeriodScores,
    Scoreboard,
    StatusCode,
    render_event_status,
    render_period_scores,
    render_scoreboard,
)
from app.wire.text import escaped, plain, utc


class CashoutStatus(IntEnum):
    """Whether a bet on a market can be bought back now."""

    #: The market is active, and its probability is that of now.
    AVAILABLE = 1
    #: The market is suspended; it may come back.
    UNAVAILABLE = -1
    #: The market is settled or void.
    CLOSED = -2


CASHOUT_STATUS_TEXT = {
    CashoutStatus.AVAILABLE: "1",
    CashoutStatus.UNAVAILABLE: "-1",
    CashoutStatus.CLOSED: "-2",
}


class LiveOdds(StrEnum):
    """Whether live odds can be had for an event."""

    #: They are sent on the feed.
    BOOKED = "booked"
    #: There are none.
    NOT_AVAILABLE = "not_available"


LIVE_ODDS_TEXT = {LiveOdds.BOOKED: "booked", LiveOdds.NOT_AVAILABLE: "not_available"}


class PlayerState(StrEnum):
    """What a replay does."""

    #: It has been started and publishes nothing yet, or waits for the broker.
    SETTING_UP = "setting_up"
    #: Messages are published.
    PLAYING = "playing"
    #: It was never started, is at its end, was stopped, or failed.
    STOPPED = "stopped"


PLAYER_STATE_TEXT = {
    PlayerState.SETTING_UP: "setting_up",
    PlayerState.PLAYING: "playing",
    PlayerState.STOPPED: "stopped",
}


class ProducerScope(StrEnum):
    """What a producer speaks of."""

    #: Matches being played.
    LIVE = "live"
    #: Matches to come.
    PREMATCH = "prematch"


PRODUCER_SCOPE_TEXT = {ProducerScope.LIVE: "live", ProducerScope.PREMATCH: "prematch"}


class Qualifier(StrEnum):
    """A team by its place in the match."""

    #: The team listed first.
    HOME = "home"
    #: The team listed second.
    AWAY = "away"


QUALIFIER_TEXT = {Qualifier.HOME: "home", Qualifier.AWAY: "away"}


class ResponseCode(StrEnum):
    """How a request went."""

    #: Here it is.
    OK = "OK"
    #: The work has been taken on and goes on in the background.
    ACCEPTED = "ACCEPTED"
    #: There is no such thing.
    NOT_FOUND = "NOT_FOUND"


RESPONSE_CODE_TEXT = {
    ResponseCode.OK: "OK",
    ResponseCode.ACCEPTED: "ACCEPTED",
    ResponseCode.NOT_FOUND: "NOT_FOUND",
}


class SpecifierType(StrEnum):
    """What the value of a specifier is."""

    #: A whole number.
    INTEGER = "integer"
    #: A number with decimals.
    DECIMAL = "decimal"
    #: A word or a name.
    VARIABLE_TEXT = "variable_text"


SPECIFIER_TYPE_TEXT = {
    SpecifierType.INTEGER: "integer",
    SpecifierType.DECIMAL: "decimal",
    SpecifierType.VARIABLE_TEXT: "variable_text",
}


class StatusWord(StrEnum):
    """Where a match is in its life, as a word."""

    #: Play has not begun.
    NOT_STARTED = "not_started"
    #: Being played.
    LIVE = "live"
    #: Finished, the result stands.
    CLOSED = "closed"
    #: Will not be played (to the end).
    CANCELLED = "cancelled"


STATUS_WORD_TEXT = {
    StatusWord.NOT_STARTED: "not_started",
    StatusWord.LIVE: "live",
    StatusWord.CLOSED: "closed",
    StatusWord.CANCELLED: "cancelled",
}


class AllowedSport(msgspec.Struct, frozen=True, kw_only=True):
    """One sport that the key may use.

    Attributes:
        slug: The sport, as paths begin with it.
    """

    slug: str


class BetstopReason(msgspec.Struct, frozen=True, kw_only=True):
    """Why offers are suspended.

    Attributes:
        id: The reason, as betstop_reason names it.
        name: Its code, the same as in JSON; it never changes.
        description: What it means, in the requested language.
    """

    id: int
    name: str
    description: str


class BettingStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How betting on a match may stand.

    Attributes:
        id: The status, as betting_status names it.
        description: What it means, in the requested language.
    """

    id: int
    description: str


class Calculation(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a combination.

    Attributes:
        odds: Its decimal odds, with margin.
        probability: Its probability without margin; the inverse of the odds for those who do not receive
            probabilities.
    """

    odds: Decimal
    probability: Decimal


def render_calculation(node: Calculation) -> str:
    """The element `<calculation>`."""
    return f'<calculation odds="{plain(node.odds)}" probability="{plain(node.probability)}"/>'


class CashoutOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What may happen, and what a bet on it is worth.

    Attributes:
        id: The outcome, by its id in the market catalogue; a Counter-Strike market has one, 1.
        odds: The price; left out unless the market is active.
        probabilities: The probability without margin; 1 when it has happened, 0 when it has not. Left out
            while the market is suspended, and when it is void.
        refund_probabilities: 1 when the market is void: the probability that the stake is returned.
        void_factor: 1 when the market is void: the whole stake is returned.
        active: Whether bets on this outcome may be taken.
    """

    id: str
    odds: Decimal | None = None
    probabilities: Decimal | None = None
    refund_probabilities: Decimal | None = None
    void_factor: Decimal | None = None
    active: bool


class Category(msgspec.Struct, frozen=True, kw_only=True):
    """The category of a tournament.

    Attributes:
        id: The category.
        name: Its name.
        country_code: The country that it stands for.
    """

    id: str
    name: str
    country_code: str | None = None


def render_category(node: Category) -> str:
    """The element `<category>`."""
    x_country_code = "" if node.country_code is None else f' country_code="{escaped[node.country_code]}"'
    return f'<category id="{escaped[node.id]}" name="{escaped[node.name]}"{x_country_code}/>'


class ChangedFixture(msgspec.Struct, frozen=True, kw_only=True):
    """The latest change of a fixture.

    Attributes:
        sport_event_id: The match.
        update_time: When it changed. (Unix ms)
    """

    sport_event_id: str
    update_time: int


class DescribedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome of a market type.

    Attributes:
        id: The outcome.
        name: Its template: {key} stands for the value of that specifier.
        description: What has to happen.
    """

    id: str
    name: str
    description: str | None = None


class FilteredOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome, by whether it goes with a combination.

    Attributes:
        id: The outcome.
        conflict: Whether it cannot be added: it excludes a selection, or changes nothing.
    """

    id: str
    conflict: bool | None = None


class GrantedScope(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the key may do.

    Attributes:
        name: The scope.
    """

    name: str


class Info(msgspec.Struct, frozen=True, kw_only=True):
    """One further fact.

    Attributes:
        key: What it is: sport_format, best_of, match_id.
        value: What it says.
    """

    key: str
    value: str


class Player(msgspec.Struct, frozen=True, kw_only=True):
    """A player.

    Attributes:
        id: The player.
        name: The name used in the game.
        full_name: The civil name.
        sport: The sport.
        underage: 1 or 0 whether under age, -1 when unknown.
        country_code: The code of the country.
        icon_path: Where the picture is.
    """

    id: str
    name: str
    full_name: str | None = None
    sport: str
    underage: int | None = None
    country_code: str | None = None
    icon_path: str | None = None


def render_player(node: Player) -> str:
    """The element `<player>`."""
    x_full_name = "" if node.full_name is None else f' full_name="{escaped[node.full_name]}"'
    x_underage = "" if node.underage is None else f' underage="{node.underage}"'
    x_country_code = "" if node.country_code is None else f' country_code="{escaped[node.country_code]}"'
    x_icon_path = "" if node.icon_path is None else f' icon_path="{escaped[node.icon_path]}"'
    return (
        f"<player"
        f' id="{escaped[node.id]}"'
        f' name="{escaped[node.name]}"'
        f"{x_full_name}"
        f' sport="{escaped[node.sport]}"'
        f"{x_underage}"
        f"{x_country_code}"
        f"{x_icon_path}"
        "/>"
    )


class ReplayEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A match of a list of replays.

    Attributes:
        id: The match.
        position: Its place in the list, from 0 on.
    """

    id: str
    position: int


class SelectableOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome that can be part of a combination.

    Attributes:
        id: The outcome.
    """

    id: str


class Sport(msgspec.Struct, frozen=True, kw_only=True):
    """A sport of the list, which is a category of the hierarchy.

    Attributes:
        id: The category.
        name: Its name, the same in every language.
        abbreviation: A short name.
        icon_path: Where its picture is.
    """

    id: str
    name: str
    abbreviation: str | None = None
    icon_path: str | None = None


def render_sport(node: Sport) -> str:
    """The element `<sport>`."""
    x_abbreviation = "" if node.abbreviation is None else f' abbreviation="{escaped[node.abbreviation]}"'
    x_icon_path = "" if node.icon_path is None else f' icon_path="{escaped[node.icon_path]}"'
    return f'<sport id="{escaped[node.id]}" name="{escaped[node.name]}"{x_abbreviation}{x_icon_path}/>'


class TournamentLength(msgspec.Struct, frozen=True, kw_only=True):
    """The days of a tournament.

    Attributes:
        start_date: The first day.
        end_date: The last day.
    """

    start_date: date
    end_date: date


def render_tournament_length(node: TournamentLength) -> str:
    """The element `<tournament_length>`."""
    return (
        f"<tournament_length"
        f' start_date="{node.start_date.isoformat()}"'
        f' end_date="{node.end_date.isoformat()}"'
        "/>"
    )


class TvChannel(msgspec.Struct, frozen=True, kw_only=True):
    """Where a match can be watched.

    Attributes:
        name: What it is called; its address when it has no name.
        language: The two letters of its language, when known.
        stream_url: Its address.
    """

    name: str
    language: str | None = None
    stream_url: str


class VoidReasonParam(msgspec.Struct, frozen=True, kw_only=True):
    """A placeholder of a template.

    Attributes:
        name: Its name, as in void_reason_params of bet_cancel.
    """

    name: str


class AllowedSports(msgspec.Struct, frozen=True, kw_only=True):
    """The sports that the key may use.

    Attributes:
        sport: One sport.
    """

    sport: tuple[AllowedSport, ...] = ()


def render_allowed_sports(node: AllowedSports) -> str:
    """The element `<sport_allowlist>`."""
    x_sport = ""
    for leaf in node.sport:
        x_sport += f'<sport slug="{escaped[leaf.slug]}"/>'
    content = f"{x_sport}"
    end = f">{content}</sport_allowlist>" if content else "/>"
    return f"<sport_allowlist{end}"


class BetstopReasonsDescriptions(msgspec.Struct, frozen=True, kw_only=True):
    """Why offers are suspended, in the requested language.

    Attributes:
        response_code: OK.
        generated_at: When this content was made. (Unix ms)
        betstop_reason: One reason.
    """

    response_code: ResponseCode
    generated_at: int | None = None
    betstop_reason: tuple[BetstopReason, ...] = ()


def write_betstop_reasons_descriptions(node: BetstopReasonsDescriptions) -> bytes:
    """The document `<betstop_reasons_descriptions>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_betstop_reason = ""
    for leaf in node.betstop_reason:
        x_betstop_reason += (
            "<betstop_reason"
            f' id="{leaf.id}"'
            f' name="{escaped[leaf.name]}"'
            f' description="{escaped[leaf.description]}"'
            "/>"
        )
    content = f"{x_betstop_reason}"
    end = f">{content}</betstop_reasons_descriptions>" if content else "/>"
    return (
        f"<betstop_reasons_descriptions"
        f' response_code="{RESPONSE_CODE_TEXT[node.response_code]}"'
        f"{x_generated_at}"
        f"{end}"
    ).encode()


class BettingStatusDescriptions(msgspec.Struct, frozen=True, kw_only=True):
    """How betting on a match may stand, in the requested language.

    Attributes:
        response_code: OK.
        generated_at: When this content was made. (Unix ms)
        betting_status: One status.
    """

    response_code: ResponseCode
    generated_at: int | None = None
    betting_status: tuple[BettingStatus, ...] = ()


def write_betting_status_descriptions(node: BettingStatusDescriptions) -> bytes:
    """The document `<betting_status_descriptions>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_betting_status = ""
    for leaf in node.betting_status:
        x_betting_status += f'<betting_status id="{leaf.id}" description="{escaped[leaf.description]}"/>'
    content = f"{x_betting_status}"
    end = f">{content}</betting_status_descriptions>" if content else "/>"
    return (
        f"<betting_status_descriptions"
        f' response_code="{RESPONSE_CODE_TEXT[node.response_code]}"'
        f"{x_generated_at}"
        f"{end}"
    ).encode()


class CashoutMarket(msgspec.Struct, frozen=True, kw_only=True):
    """A market, and what bets on it are worth.

    Attributes:
        id: The market's type: an id of the market catalogue.
        specifiers: What the market is about.
        status: What may be done with it.
        cashout_status: Whether a bet on it can be bought back.
        betstop_reason: Why it is suspended: an id of the list of reasons.
        outcome: One outcome.
    """

    id: int
    specifiers: str | None = None
    status: MarketStatus
    cashout_status: CashoutStatus
    betstop_reason: int | None = None
    outcome: tuple[CashoutOutcome, ...]


def render_cashout_market(node: CashoutMarket) -> str:
    """The element `<market>`."""
    x_specifiers = "" if node.specifiers is None else f' specifiers="{escaped[node.specifiers]}"'
    x_betstop_reason = "" if node.betstop_reason is None else f' betstop_reason="{node.betstop_reason}"'
    x_outcome = ""
    for leaf in node.outcome:
        leaf_odds = "" if leaf.odds is None else f' odds="{plain(leaf.odds)}"'
        leaf_probabilities = (
            "" if leaf.probabilities is None else f' probabilities="{plain(leaf.probabilities)}"'
        )
        leaf_refund_probabilities = (
            ""
            if leaf.refund_probabilities is None
            else f' refund_probabilities="{plain(leaf.refund_probabilities)}"'
        )
        leaf_void_factor = "" if leaf.void_factor is None else f' void_factor="{plain(leaf.void_factor)}"'
        x_outcome += (
            "<outcome"
            f' id="{escaped[leaf.id]}"'
            f"{leaf_odds}"
            f"{leaf_probabilities}"
            f"{leaf_refund_probabilities}"
            f"{leaf_void_factor}"
            f' active="{"1" if leaf.active else "0"}"'
            "/>"
        )
    return (
        f"<market"
        f' id="{node.id}"'
        f"{x_specifiers}"
        f' status="{MARKET_STATUS_TEXT[node.status]}"'
        f' cashout_status="{CASHOUT_STATUS_TEXT[node.cashout_status]}"'
        f"{x_betstop_reason}"
        f">{x_outcome}</market>"
    )


class Competitor(msgspec.Struct, frozen=True, kw_only=True):
    """A team.

    Attributes:
        id: The competitor.
        name: Its proper name, the same in every language.
        abbreviation: A short name.
        qualifier: Its place in the match; only within an event.
        underage: 1 or 0 whether under age, -1 when unknown.
        country: Its country.
        country_code: The code of its country.
        icon_path: Where its picture is.
        sport: Its sport.
    """

    id: str
    name: str
    abbreviation: str
    qualifier: Qualifier | None = None
    underage: int
    country: str | None = None
    country_code: str | None = None
    icon_path: str | None = None
    sport: Sport | None = None


def render_competitor(node: Competitor) -> str:
    """The element `<competitor>`."""
    x_qualifier = "" if node.qualifier is None else f' qualifier="{QUALIFIER_TEXT[node.qualifier]}"'
    x_country = "" if node.country is None else f' country="{escaped[node.country]}"'
    x_country_code = "" if node.country_code is None else f' country_code="{escaped[node.country_code]}"'
    x_icon_path = "" if node.icon_path is None else f' icon_path="{escaped[node.icon_path]}"'
    x_sport = "" if node.sport is None else render_sport(node.sport)
    content = f"{x_sport}"
    end = f">{content}</competitor>" if content else "/>"
    return (
        f"<competitor"
        f' id="{escaped[node.id]}"'
        f' name="{escaped[node.name]}"'
        f' abbreviation="{escaped[node.abbreviation]}"'
        f"{x_qualifier}"
        f' underage="{node.underage}"'
        f"{x_country}"
        f"{x_country_code}"
        f"{x_icon_path}"
        f"{end}"
    )


class DescribedOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """The outcomes of a market type; a Counter-Strike market has one.

    Attributes:
        outcome: One outcome.
    """

    outcome: tuple[DescribedOutcome, ...] = ()


def render_described_outcomes(node: DescribedOutcomes) -> str:
    """The element `<outcomes>`."""
    x_outcome = ""
    for leaf in node.outcome:
        leaf_description = "" if leaf.description is None else f' description="{escaped[leaf.description]}"'
        x_outcome += f'<outcome id="{escaped[leaf.id]}" name="{escaped[leaf.name]}"{leaf_description}/>'
    content = f"{x_outcome}"
    end = f">{content}</outcomes>" if content else "/>"
    return f"<outcomes{end}"


class DescribedSpecifier(msgspec.Struct, frozen=True, kw_only=True):
    """A specifier of a market type.

    Attributes:
        name: Its key.
        type: What its value is.
        description: What it says.
    """

    name: str
    type: SpecifierType
    description: str | None = None


class ExtraInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Further facts about a match.

    Attributes:
        info: One fact.
    """

    info: tuple[Info, ...] = ()


def render_extra_info(node: ExtraInfo) -> str:
    """The element `<extra_info>`."""
    x_info = ""
    for leaf in node.info:
        x_info += f'<info key="{escaped[leaf.key]}" value="{escaped[leaf.value]}"/>'
    content = f"{x_info}"
    end = f">{content}</extra_info>" if content else "/>"
    return f"<extra_info{end}"


class FilteredMarket(msgspec.Struct, frozen=True, kw_only=True):
    """A market, by whether it goes with a combination.

    Attributes:
        id: Its type.
        specifiers: What tells it apart from others of its type.
        conflict: Whether none of its outcomes can be added.
        outcome: One of its outcomes; a Counter-Strike market has one.
    """

    id: int
    specifiers: str | None = None
    conflict: bool | None = None
    outcome: tuple[FilteredOutcome, ...]


def render_filtered_market(node: FilteredMarket) -> str:
    """The element `<market>`."""
    x_specifiers = "" if node.specifiers is None else f' specifiers="{escaped[node.specifiers]}"'
    x_conflict = "" if node.conflict is None else f' conflict="{"true" if node.conflict else "false"}"'
    x_outcome = ""
    for leaf in node.outcome:
        leaf_conflict = "" if leaf.conflict is None else f' conflict="{"true" if leaf.conflict else "false"}"'
        x_outcome += f'<outcome id="{escaped[leaf.id]}"{leaf_conflict}/>'
    return f'<market id="{node.id}"{x_specifiers}{x_conflict}>{x_outcome}</market>'


class FixtureChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The matches whose fixture has changed, the latest change last.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        fixture_change: One match.
    """

    generated_at: int | None = None
    fixture_change: tuple[ChangedFixture, ...] = ()


def write_fixture_changes(node: FixtureChanges) -> bytes:
    """The document `<fixture_changes>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_fixture_change = ""
    for leaf in node.fixture_change:
        x_fixture_change += (
            "<fixture_change"
            f' sport_event_id="{escaped[leaf.sport_event_id]}"'
            f' update_time="{utc(leaf.update_time)}"'
            "/>"
        )
    content = f"{x_fixture_change}"
    end = f">{content}</fixture_changes>" if content else "/>"
    return (f"<fixture_changes{x_generated_at}{end}").encode()


class GrantedScopes(msgspec.Struct, frozen=True, kw_only=True):
    """What the key may do.

    Attributes:
        scope: One scope.
    """

    scope: tuple[GrantedScope, ...] = ()


def render_granted_scopes(node: GrantedScopes) -> str:
    """The element `<scopes>`."""
    x_scope = ""
    for leaf in node.scope:
        x_scope += f'<scope name="{escaped[leaf.name]}"/>'
    content = f"{x_scope}"
    end = f">{content}</scopes>" if content else "/>"
    return f"<scopes{end}"


class MatchStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One code of the dictionary.

    Attributes:
        id: The code.
        description: What it means.
    """

    id: StatusCode
    description: str


class NotFound(msgspec.Struct, frozen=True, kw_only=True):
    """In the place of the content: there is no such thing.

    Attributes:
        response_code: NOT_FOUND.
    """

    response_code: ResponseCode


def render_not_found(node: NotFound) -> str:
    """The element `<response>`."""
    return f'<response response_code="{RESPONSE_CODE_TEXT[node.response_code]}"/>'


class PlayerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the list is being replayed.

    Attributes:
        status: What the replay does.
        generated_at: When this content was made. (Unix ms)
    """

    status: PlayerState
    generated_at: int | None = None


def write_player_status(node: PlayerStatus) -> bytes:
    """The document `<player_status>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    return (f'<player_status status="{PLAYER_STATE_TEXT[node.status]}"{x_generated_at}/>').encode()


class Players(msgspec.Struct, frozen=True, kw_only=True):
    """A squad.

    Attributes:
        player: One player.
    """

    player: tuple[Player, ...]


def render_players(node: Players) -> str:
    """The element `<players>`."""
    x_player = ""
    for leaf in node.player:
        leaf_full_name = "" if leaf.full_name is None else f' full_name="{escaped[leaf.full_name]}"'
        leaf_underage = "" if leaf.underage is None else f' underage="{leaf.underage}"'
        leaf_country_code = (
            "" if leaf.country_code is None else f' country_code="{escaped[leaf.country_code]}"'
        )
        leaf_icon_path = "" if leaf.icon_path is None else f' icon_path="{escaped[leaf.icon_path]}"'
        x_player += (
            "<player"
            f' id="{escaped[leaf.id]}"'
            f' name="{escaped[leaf.name]}"'
            f"{leaf_full_name}"
            f' sport="{escaped[leaf.sport]}"'
            f"{leaf_underage}"
            f"{leaf_country_code}"
            f"{leaf_icon_path}"
            "/>"
        )
    return f"<players>{x_player}</players>"


class Producer(msgspec.Struct, frozen=True, kw_only=True):
    """One stream of the feed.

    Attributes:
        id: The product of its messages.
        name: Its name, as recovery paths use it.
        description: What it tells.
        api_url: Where its recoveries are asked for.
        active: Whether it is sent.
        scope: What it speaks of.
        stateful_recovery_window_in_minutes: How far back a recovery may reach.
    """

    id: int
    name: str
    description: str
    api_url: str
    active: bool
    scope: ProducerScope
    stateful_recovery_window_in_minutes: int


class ReplaySetContent(msgspec.Struct, frozen=True, kw_only=True):
    """The matches of a list that can be replayed.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        replay_event: One match.
    """

    generated_at: int | None = None
    replay_event: tuple[ReplayEvent, ...] = ()


def write_replay_set_content(node: ReplaySetContent) -> bytes:
    """The document `<replay_set_content>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_replay_event = ""
    for leaf in node.replay_event:
        x_replay_event += f'<replay_event id="{escaped[leaf.id]}" position="{leaf.position}"/>'
    content = f"{x_replay_event}"
    end = f">{content}</replay_set_content>" if content else "/>"
    return (f"<replay_set_content{x_generated_at}{end}").encode()


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a recovery request, or to a command about replays.

    Attributes:
        response_code: ACCEPTED.
        request_id: The id that every envelope of the recovery carries.
        node_id: The node that it is for, as sent.
        after: The moment after which it replays history, as sent.
        scheduled_at: When it was taken on.
        action: What was asked for.
        message: What comes of it.
    """

    response_code: ResponseCode
    request_id: str | None = None
    node_id: str | None = None
    after: int | None = None
    scheduled_at: int | None = None
    action: str
    message: str


def write_response(node: Response) -> bytes:
    """The document `<response>`."""
    x_request_id = "" if node.request_id is None else f' request_id="{escaped[node.request_id]}"'
    x_node_id = "" if node.node_id is None else f' node_id="{escaped[node.node_id]}"'
    x_after = "" if node.after is None else f' after="{node.after}"'
    x_scheduled_at = "" if node.scheduled_at is None else f' scheduled_at="{node.scheduled_at}"'
    x_action = f"<action>{escaped[node.action]}</action>"
    x_message = f"<message>{escaped[node.message]}</message>"
    return (
        f"<response"
        f' response_code="{RESPONSE_CODE_TEXT[node.response_code]}"'
        f"{x_request_id}"
        f"{x_node_id}"
        f"{x_after}"
        f"{x_scheduled_at}"
        f">{x_action}{x_message}</response>"
    ).encode()


class SelectableMarket(msgspec.Struct, frozen=True, kw_only=True):
    """A market that can be part of a combination.

    Attributes:
        id: Its type.
        specifiers: What tells it apart from others of its type.
        outcome: One of its outcomes; a Counter-Strike market has one.
    """

    id: int
    specifiers: str | None = None
    outcome: tuple[SelectableOutcome, ...]


def render_selectable_market(node: SelectableMarket) -> str:
    """The element `<market>`."""
    x_specifiers = "" if node.specifiers is None else f' specifiers="{escaped[node.specifiers]}"'
    x_outcome = ""
    for leaf in node.outcome:
        x_outcome += f'<outcome id="{escaped[leaf.id]}"/>'
    return f'<market id="{node.id}"{x_specifiers}>{x_outcome}</market>'


class Sports(msgspec.Struct, frozen=True, kw_only=True):
    """The sports list: one entry a category.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        sport: One category.
    """

    generated_at: int | None = None
    sport: tuple[Sport, ...] = ()


def write_sports(node: Sports) -> bytes:
    """The document `<sports>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_sport = ""
    for leaf in node.sport:
        leaf_abbreviation = (
            "" if leaf.abbreviation is None else f' abbreviation="{escaped[leaf.abbreviation]}"'
        )
        leaf_icon_path = "" if leaf.icon_path is None else f' icon_path="{escaped[leaf.icon_path]}"'
        x_sport += (
            f'<sport id="{escaped[leaf.id]}" name="{escaped[leaf.name]}"{leaf_abbreviation}{leaf_icon_path}/>'
        )
    content = f"{x_sport}"
    end = f">{content}</sports>" if content else "/>"
    return (f"<sports{x_generated_at}{end}").encode()


class SummaryStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a match.

    Attributes:
        status: Where the match is in its life.
        match_status_code: The same, as an id of the match status dictionary.
        home_score: Maps won by home.
        away_score: Maps won by away.
        winner_id: The competitor that won; once the match is closed.
        scoreboard_available: Whether a scoreboard follows.
        period_scores: The score by map.
        scoreboard: The map being played, while one is.
    """

    status: StatusWord
    match_status_code: StatusCode
    home_score: int
    away_score: int
    winner_id: str | None = None
    scoreboard_available: bool | None = None
    period_scores: PeriodScores | None = None
    scoreboard: Scoreboard | None = None


def render_summary_status(node: SummaryStatus) -> str:
    """The element `<sport_event_status>`."""
    x_winner_id = "" if node.winner_id is None else f' winner_id="{escaped[node.winner_id]}"'
    x_scoreboard_available = (
        ""
        if node.scoreboard_available is None
        else f' scoreboard_available="{"true" if node.scoreboard_available else "false"}"'
    )
    x_period_scores = "" if node.period_scores is None else render_period_scores(node.period_scores)
    x_scoreboard = "" if node.scoreboard is None else render_scoreboard(node.scoreboard)
    content = f"{x_period_scores}{x_scoreboard}"
    end = f">{content}</sport_event_status>" if content else "/>"
    return (
        f"<sport_event_status"
        f' status="{STATUS_WORD_TEXT[node.status]}"'
        f' match_status_code="{STATUS_CODE_TEXT[node.match_status_code]}"'
        f' home_score="{node.home_score}"'
        f' away_score="{node.away_score}"'
        f"{x_winner_id}"
        f"{x_scoreboard_available}"
        f"{end}"
    )


class TvChannels(msgspec.Struct, frozen=True, kw_only=True):
    """Where a match can be watched, best first.

    Attributes:
        tv_channel: One place.
    """

    tv_channel: tuple[TvChannel, ...]


def render_tv_channels(node: TvChannels) -> str:
    """The element `<tv_channels>`."""
    x_tv_channel = ""
    for leaf in node.tv_channel:
        leaf_language = "" if leaf.language is None else f' language="{escaped[leaf.language]}"'
        x_tv_channel += (
            "<tv_channel"
            f' name="{escaped[leaf.name]}"'
            f"{leaf_language}"
            f' stream_url="{escaped[leaf.stream_url]}"'
            "/>"
        )
    return f"<tv_channels>{x_tv_channel}</tv_channels>"


class VoidReason(msgspec.Struct, frozen=True, kw_only=True):
    """One reason.

    Attributes:
        id: The reason, as bet_cancel names it.
        name: Its short name.
        description: What it means.
        template: The same with what happened to this market: {name} stands for a value of void_reason_params.
        param: A placeholder of its template.
    """

    id: int
    name: str
    description: str
    template: str | None = None
    param: tuple[VoidReasonParam, ...] = ()


def render_void_reason(node: VoidReason) -> str:
    """The element `<void_reason>`."""
    x_template = "" if node.template is None else f' template="{escaped[node.template]}"'
    x_param = ""
    for leaf in node.param:
        x_param += f'<param name="{escaped[leaf.name]}"/>'
    content = f"{x_param}"
    end = f">{content}</void_reason>" if content else "/>"
    return (
        f"<void_reason"
        f' id="{node.id}"'
        f' name="{escaped[node.name]}"'
        f' description="{escaped[node.description]}"'
        f"{x_template}"
        f"{end}"
    )


class BookmakerDetails(msgspec.Struct, frozen=True, kw_only=True):
    """Who the presented key belongs to, and what it may do.

    Attributes:
        response_code: OK.
        bookmaker_id: The number of the tenant.
        virtual_host: Its virtual host on the message queue.
        expire_at: Until when the key is good. (Unix ms)
        tenant_id: The id of the tenant.
        name: The name of the tenant.
        rate_limit_rpm: Requests a minute that the key may make.
        generated_at: When this content was made. (Unix ms)
        scopes: What the key may do.
        sport_allowlist: The sports that it may use.
    """

    response_code: ResponseCode
    bookmaker_id: int
    virtual_host: str
    expire_at: int
    tenant_id: str
    name: str
    rate_limit_rpm: int
    generated_at: int | None = None
    scopes: GrantedScopes
    sport_allowlist: AllowedSports


def write_bookmaker_details(node: BookmakerDetails) -> bytes:
    """The document `<bookmaker_details>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_scopes = render_granted_scopes(node.scopes)
    x_sport_allowlist = render_allowed_sports(node.sport_allowlist)
    return (
        f"<bookmaker_details"
        f' response_code="{RESPONSE_CODE_TEXT[node.response_code]}"'
        f' bookmaker_id="{node.bookmaker_id}"'
        f' virtual_host="{escaped[node.virtual_host]}"'
        f' expire_at="{utc(node.expire_at)}"'
        f' tenant_id="{escaped[node.tenant_id]}"'
        f' name="{escaped[node.name]}"'
        f' rate_limit_rpm="{node.rate_limit_rpm}"'
        f"{x_generated_at}"
        f">{x_scopes}{x_sport_allowlist}</bookmaker_details>"
    ).encode()


class CashoutOdds(msgspec.Struct, frozen=True, kw_only=True):
    """The markets of a match that the address names.

    Attributes:
        betting_status: How betting on the match stands: an id of the list of betting statuses.
        betstop_reason: Why the whole match is suspended: an id of the list of reasons. Left out while it is
            not.
        market: One market.
    """

    betting_status: int
    betstop_reason: int | None = None
    market: tuple[CashoutMarket, ...] = ()


def render_cashout_odds(node: CashoutOdds) -> str:
    """The element `<odds>`."""
    x_betstop_reason = "" if node.betstop_reason is None else f' betstop_reason="{node.betstop_reason}"'
    x_market = "".join([render_cashout_market(item) for item in node.market])
    content = f"{x_market}"
    end = f">{content}</odds>" if content else "/>"
    return f'<odds betting_status="{node.betting_status}"{x_betstop_reason}{end}'


class CompetitorProfile(msgspec.Struct, frozen=True, kw_only=True):
    """One team.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        competitor: The team.
        players: Its squad.
        response: In the place of the content, when there is no such thing.
    """

    generated_at: int | None = None
    competitor: Competitor | None = None
    players: Players | None = None
    response: NotFound | None = None


def write_competitor_profile(node: CompetitorProfile) -> bytes:
    """The document `<competitor_profile>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_competitor = "" if node.competitor is None else render_competitor(node.competitor)
    x_players = "" if node.players is None else render_players(node.players)
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_competitor}{x_players}{x_response}"
    end = f">{content}</competitor_profile>" if content else "/>"
    return (f"<competitor_profile{x_generated_at}{end}").encode()


class Competitors(msgspec.Struct, frozen=True, kw_only=True):
    """Teams; in a match home comes first.

    Attributes:
        competitor: One team.
    """

    competitor: tuple[Competitor, ...] = ()


def render_competitors(node: Competitors) -> str:
    """The element `<competitors>`."""
    x_competitor = "".join([render_competitor(item) for item in node.competitor])
    content = f"{x_competitor}"
    end = f">{content}</competitors>" if content else "/>"
    return f"<competitors{end}"


class DescribedSpecifiers(msgspec.Struct, frozen=True, kw_only=True):
    """The specifiers of a market type, in the order in which a live market has them.

    Attributes:
        specifier: One specifier.
    """

    specifier: tuple[DescribedSpecifier, ...]


def render_described_specifiers(node: DescribedSpecifiers) -> str:
    """The element `<specifiers>`."""
    x_specifier = ""
    for leaf in node.specifier:
        leaf_description = "" if leaf.description is None else f' description="{escaped[leaf.description]}"'
        x_specifier += (
            "<specifier"
            f' name="{escaped[leaf.name]}"'
            f' type="{SPECIFIER_TYPE_TEXT[leaf.type]}"'
            f"{leaf_description}"
            "/>"
        )
    return f"<specifiers>{x_specifier}</specifiers>"


class FilteredMarkets(msgspec.Struct, frozen=True, kw_only=True):
    """The markets of a match, by whether they go with a combination.

    Attributes:
        market: One market.
    """

    market: tuple[FilteredMarket, ...]


def render_filtered_markets(node: FilteredMarkets) -> str:
    """The element `<markets>`."""
    x_market = "".join([render_filtered_market(item) for item in node.market])
    return f"<markets>{x_market}</markets>"


class MatchStatusDescriptions(msgspec.Struct, frozen=True, kw_only=True):
    """The match status dictionary: the codes that the feed sends.

    Attributes:
        response_code: OK.
        generated_at: When this content was made. (Unix ms)
        match_status: One code.
    """

    response_code: ResponseCode
    generated_at: int | None = None
    match_status: tuple[MatchStatus, ...] = ()


def write_match_status_descriptions(node: MatchStatusDescriptions) -> bytes:
    """The document `<match_status_descriptions>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_match_status = ""
    for leaf in node.match_status:
        x_match_status += (
            f'<match_status id="{STATUS_CODE_TEXT[leaf.id]}" description="{escaped[leaf.description]}"/>'
        )
    content = f"{x_match_status}"
    end = f">{content}</match_status_descriptions>" if content else "/>"
    return (
        f"<match_status_descriptions"
        f' response_code="{RESPONSE_CODE_TEXT[node.response_code]}"'
        f"{x_generated_at}"
        f"{end}"
    ).encode()


class PlayerProfile(msgspec.Struct, frozen=True, kw_only=True):
    """One player.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        player: The player.
        response: In the place of the content, when there is no such thing.
    """

    generated_at: int | None = None
    player: Player | None = None
    response: NotFound | None = None


def write_player_profile(node: PlayerProfile) -> bytes:
    """The document `<player_profile>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_player = "" if node.player is None else render_player(node.player)
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_player}{x_response}"
    end = f">{content}</player_profile>" if content else "/>"
    return (f"<player_profile{x_generated_at}{end}").encode()


class Producers(msgspec.Struct, frozen=True, kw_only=True):
    """The streams of the feed.

    Attributes:
        response_code: OK.
        generated_at: When this content was made. (Unix ms)
        producer: One stream.
    """

    response_code: ResponseCode
    generated_at: int | None = None
    producer: tuple[Producer, ...] = ()


def write_producers(node: Producers) -> bytes:
    """The document `<producers>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_producer = ""
    for leaf in node.producer:
        x_producer += (
            "<producer"
            f' id="{leaf.id}"'
            f' name="{escaped[leaf.name]}"'
            f' description="{escaped[leaf.description]}"'
            f' api_url="{escaped[leaf.api_url]}"'
            f' active="{"true" if leaf.active else "false"}"'
            f' scope="{PRODUCER_SCOPE_TEXT[leaf.scope]}"'
            f' stateful_recovery_window_in_minutes="{leaf.stateful_recovery_window_in_minutes}"'
            "/>"
        )
    content = f"{x_producer}"
    end = f">{content}</producers>" if content else "/>"
    return (
        f'<producers response_code="{RESPONSE_CODE_TEXT[node.response_code]}"{x_generated_at}{end}'
    ).encode()


class SelectableMarkets(msgspec.Struct, frozen=True, kw_only=True):
    """The markets of a match that can be part of a combination.

    Attributes:
        market: One market.
    """

    market: tuple[SelectableMarket, ...]


def render_selectable_markets(node: SelectableMarkets) -> str:
    """The element `<markets>`."""
    x_market = "".join([render_selectable_market(item) for item in node.market])
    return f"<markets>{x_market}</markets>"


class VoidReasons(msgspec.Struct, frozen=True, kw_only=True):
    """The reasons why markets are void, as clients ask for them that name no language.

    Attributes:
        response_code: OK.
        generated_at: When this content was made. (Unix ms)
        void_reason: One reason.
    """

    response_code: ResponseCode
    generated_at: int | None = None
    void_reason: tuple[VoidReason, ...] = ()


def write_void_reasons(node: VoidReasons) -> bytes:
    """The document `<void_reasons>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_void_reason = "".join([render_void_reason(item) for item in node.void_reason])
    content = f"{x_void_reason}"
    end = f">{content}</void_reasons>" if content else "/>"
    return (
        f'<void_reasons response_code="{RESPONSE_CODE_TEXT[node.response_code]}"{x_generated_at}{end}'
    ).encode()


class VoidReasonsDescriptions(msgspec.Struct, frozen=True, kw_only=True):
    """The reasons why markets are void.

    Attributes:
        response_code: OK.
        generated_at: When this content was made. (Unix ms)
        void_reason: One reason.
    """

    response_code: ResponseCode
    generated_at: int | None = None
    void_reason: tuple[VoidReason, ...] = ()


def write_void_reasons_descriptions(node: VoidReasonsDescriptions) -> bytes:
    """The document `<void_reasons_descriptions>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_void_reason = "".join([render_void_reason(item) for item in node.void_reason])
    content = f"{x_void_reason}"
    end = f">{content}</void_reasons_descriptions>" if content else "/>"
    return (
        f"<void_reasons_descriptions"
        f' response_code="{RESPONSE_CODE_TEXT[node.response_code]}"'
        f"{x_generated_at}"
        f"{end}"
    ).encode()


class Cashout(msgspec.Struct, frozen=True, kw_only=True):
    """What bets on a match are worth: the probabilities of its markets without margin, or how they ended.

    Attributes:
        product: The producer that speaks: an id of the producers catalogue.
        event_id: The match.
        timestamp: The stamp of the latest message about the match: it has been so since then.
        generated_at: When this content was made. (Unix ms)
        sport_event_status: The state of the match; for keys that may read matches.
        odds: The markets.
        response: In the place of the content, when there is no such thing.
    """

    product: int | None = None
    event_id: str | None = None
    timestamp: int | None = None
    generated_at: int | None = None
    sport_event_status: EventStatus | None = None
    odds: CashoutOdds | None = None
    response: NotFound | None = None


def write_cashout(node: Cashout) -> bytes:
    """The document `<cashout>`."""
    x_product = "" if node.product is None else f' product="{node.product}"'
    x_event_id = "" if node.event_id is None else f' event_id="{escaped[node.event_id]}"'
    x_timestamp = "" if node.timestamp is None else f' timestamp="{node.timestamp}"'
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_sport_event_status = (
        "" if node.sport_event_status is None else render_event_status(node.sport_event_status)
    )
    x_odds = "" if node.odds is None else render_cashout_odds(node.odds)
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_sport_event_status}{x_odds}{x_response}"
    end = f">{content}</cashout>" if content else "/>"
    return (f"<cashout{x_product}{x_event_id}{x_timestamp}{x_generated_at}{end}").encode()


class DescribedMarket(msgspec.Struct, frozen=True, kw_only=True):
    """A market type.

    Attributes:
        id: The type.
        name: Its template: {key} stands for the value of that specifier.
        description: How it settles; English in every language.
        groups: The groups that it belongs to, joined by a bar: all, and player_props where a specifier is a
            player.
        variant: The variant that was asked for.
        outcomes: Its outcomes.
        specifiers: Its specifiers; left out when it has none.
    """

    id: int
    name: str
    description: str | None = None
    groups: str | None = None
    variant: str | None = None
    outcomes: DescribedOutcomes
    specifiers: DescribedSpecifiers | None = None


def render_described_market(node: DescribedMarket) -> str:
    """The element `<market>`."""
    x_description = "" if node.description is None else f' description="{escaped[node.description]}"'
    x_groups = "" if node.groups is None else f' groups="{escaped[node.groups]}"'
    x_variant = "" if node.variant is None else f' variant="{escaped[node.variant]}"'
    x_outcomes = render_described_outcomes(node.outcomes)
    x_specifiers = "" if node.specifiers is None else render_described_specifiers(node.specifiers)
    return (
        f"<market"
        f' id="{node.id}"'
        f' name="{escaped[node.name]}"'
        f"{x_description}"
        f"{x_groups}"
        f"{x_variant}"
        f">{x_outcomes}{x_specifiers}</market>"
    )


class FilteredEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A match with what can be selected of it.

    Attributes:
        id: The match.
        markets: Its markets; absent where nothing can be selected.
    """

    id: str
    markets: FilteredMarkets | None = None


def render_filtered_event(node: FilteredEvent) -> str:
    """The element `<event>`."""
    x_markets = "" if node.markets is None else render_filtered_markets(node.markets)
    content = f"{x_markets}"
    end = f">{content}</event>" if content else "/>"
    return f'<event id="{escaped[node.id]}"{end}'


class SelectableEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A match with what can be selected of it.

    Attributes:
        id: The match.
        markets: Its markets; absent where nothing can be selected.
    """

    id: str
    markets: SelectableMarkets | None = None


def render_selectable_event(node: SelectableEvent) -> str:
    """The element `<event>`."""
    x_markets = "" if node.markets is None else render_selectable_markets(node.markets)
    content = f"{x_markets}"
    end = f">{content}</event>" if content else "/>"
    return f'<event id="{escaped[node.id]}"{end}'


class Tournament(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament.

    Attributes:
        id: The tournament.
        name: Its proper name, the same in every language.
        abbreviation: A short name; may be empty.
        risk_tier: How much it weighs, 1 the most, 0 when not rated.
        scheduled: When it begins. (Unix ms)
        scheduled_end: When it ends. (Unix ms)
        icon_path: Where its picture is.
        tournament_length: Its days.
        sport: Its sport.
        category: Its category.
        competitors: Who takes part.
    """

    id: str
    name: str
    abbreviation: str
    risk_tier: int
    scheduled: int | None = None
    scheduled_end: int | None = None
    icon_path: str | None = None
    tournament_length: TournamentLength | None = None
    sport: Sport
    category: Category | None = None
    competitors: Competitors | None = None


def render_tournament(node: Tournament) -> str:
    """The element `<tournament>`."""
    x_scheduled = "" if node.scheduled is None else f' scheduled="{utc(node.scheduled)}"'
    x_scheduled_end = "" if node.scheduled_end is None else f' scheduled_end="{utc(node.scheduled_end)}"'
    x_icon_path = "" if node.icon_path is None else f' icon_path="{escaped[node.icon_path]}"'
    x_tournament_length = (
        "" if node.tournament_length is None else render_tournament_length(node.tournament_length)
    )
    x_sport = render_sport(node.sport)
    x_category = "" if node.category is None else render_category(node.category)
    x_competitors = "" if node.competitors is None else render_competitors(node.competitors)
    return (
        f"<tournament"
        f' id="{escaped[node.id]}"'
        f' name="{escaped[node.name]}"'
        f' abbreviation="{escaped[node.abbreviation]}"'
        f' risk_tier="{node.risk_tier}"'
        f"{x_scheduled}"
        f"{x_scheduled_end}"
        f"{x_icon_path}"
        f">{x_tournament_length}{x_sport}{x_category}{x_competitors}</tournament>"
    )


class AvailableSelections(msgspec.Struct, frozen=True, kw_only=True):
    """What of a match can be part of a combination.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        event: The match.
        response: In the place of the content, when there is no such thing.
    """

    generated_at: int | None = None
    event: SelectableEvent | None = None
    response: NotFound | None = None


def write_available_selections(node: AvailableSelections) -> bytes:
    """The document `<available_selections>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_event = "" if node.event is None else render_selectable_event(node.event)
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_event}{x_response}"
    end = f">{content}</available_selections>" if content else "/>"
    return (f"<available_selections{x_generated_at}{end}").encode()


class FilteredSelections(msgspec.Struct, frozen=True, kw_only=True):
    """What can be selected, by match.

    Attributes:
        event: One match of the combination.
    """

    event: tuple[FilteredEvent, ...] = ()


def render_filtered_selections(node: FilteredSelections) -> str:
    """The element `<available_selections>`."""
    x_event = "".join([render_filtered_event(item) for item in node.event])
    content = f"{x_event}"
    end = f">{content}</available_selections>" if content else "/>"
    return f"<available_selections{end}"


class Fixture(msgspec.Struct, frozen=True, kw_only=True):
    """A match with all that is known before it is played.

    Attributes:
        id: The match.
        name: Both names, joined as the language does.
        scheduled: When it is to begin. (Unix ms)
        start_time_tbd: Whether the hour is still open.
        start_time: When play began, else when it is to begin. (Unix ms)
        status: Where it is in its life.
        liveodds: Whether live odds can be had.
        tournament: The tournament that it belongs to.
        competitors: The two teams, home first.
        extra_info: Further facts.
        tv_channels: Where it can be watched; for keys that may see streams.
    """

    id: str
    name: str
    scheduled: int | None = None
    start_time_tbd: bool | None = None
    start_time: int | None = None
    status: StatusWord | None = None
    liveodds: LiveOdds | None = None
    tournament: Tournament
    competitors: Competitors
    extra_info: ExtraInfo | None = None
    tv_channels: TvChannels | None = None


def render_fixture(node: Fixture) -> str:
    """The element `<fixture>`."""
    x_scheduled = "" if node.scheduled is None else f' scheduled="{utc(node.scheduled)}"'
    x_start_time_tbd = (
        ""
        if node.start_time_tbd is None
        else f' start_time_tbd="{"true" if node.start_time_tbd else "false"}"'
    )
    x_start_time = "" if node.start_time is None else f' start_time="{utc(node.start_time)}"'
    x_status = "" if node.status is None else f' status="{STATUS_WORD_TEXT[node.status]}"'
    x_liveodds = "" if node.liveodds is None else f' liveodds="{LIVE_ODDS_TEXT[node.liveodds]}"'
    x_tournament = render_tournament(node.tournament)
    x_competitors = render_competitors(node.competitors)
    x_extra_info = "" if node.extra_info is None else render_extra_info(node.extra_info)
    x_tv_channels = "" if node.tv_channels is None else render_tv_channels(node.tv_channels)
    return (
        f"<fixture"
        f' id="{escaped[node.id]}"'
        f' name="{escaped[node.name]}"'
        f"{x_scheduled}"
        f"{x_start_time_tbd}"
        f"{x_start_time}"
        f"{x_status}"
        f"{x_liveodds}"
        f">{x_tournament}{x_competitors}{x_extra_info}{x_tv_channels}</fixture>"
    )


class FurtherSelections(msgspec.Struct, frozen=True, kw_only=True):
    """What can be added to a combination, by match.

    Attributes:
        event: One match of the combination.
    """

    event: tuple[SelectableEvent, ...] = ()


def render_further_selections(node: FurtherSelections) -> str:
    """The element `<available_selections>`."""
    x_event = "".join([render_selectable_event(item) for item in node.event])
    content = f"{x_event}"
    end = f">{content}</available_selections>" if content else "/>"
    return f"<available_selections{end}"


class MarketDescriptions(msgspec.Struct, frozen=True, kw_only=True):
    """The market catalogue in one language.

    Attributes:
        response_code: OK, or NOT_FOUND beside a response element.
        generated_at: When this content was made. (Unix ms)
        market: One market type.
        response: In the place of the content, when there is no such thing.
    """

    response_code: ResponseCode
    generated_at: int | None = None
    market: tuple[DescribedMarket, ...] = ()
    response: NotFound | None = None


def write_market_descriptions(node: MarketDescriptions) -> bytes:
    """The document `<market_descriptions>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_market = "".join([render_described_market(item) for item in node.market])
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_market}{x_response}"
    end = f">{content}</market_descriptions>" if content else "/>"
    return (
        f'<market_descriptions response_code="{RESPONSE_CODE_TEXT[node.response_code]}"{x_generated_at}{end}'
    ).encode()


class SportEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A match, in short.

    Attributes:
        id: The match.
        name: Both names, joined as the language does.
        scheduled: When it is to begin. (Unix ms)
        start_time_tbd: Whether the hour is still open.
        status: Where it is in its life.
        liveodds: Whether live odds can be had.
        tournament: The tournament that it belongs to.
        competitors: The two teams, home first.
        extra_info: Further facts.
    """

    id: str
    name: str
    scheduled: int | None = None
    start_time_tbd: bool | None = None
    status: StatusWord | None = None
    liveodds: LiveOdds | None = None
    tournament: Tournament
    competitors: Competitors
    extra_info: ExtraInfo | None = None


def render_sport_event(node: SportEvent) -> str:
    """The element `<sport_event>`."""
    x_scheduled = "" if node.scheduled is None else f' scheduled="{utc(node.scheduled)}"'
    x_start_time_tbd = (
        ""
        if node.start_time_tbd is None
        else f' start_time_tbd="{"true" if node.start_time_tbd else "false"}"'
    )
    x_status = "" if node.status is None else f' status="{STATUS_WORD_TEXT[node.status]}"'
    x_liveodds = "" if node.liveodds is None else f' liveodds="{LIVE_ODDS_TEXT[node.liveodds]}"'
    x_tournament = render_tournament(node.tournament)
    x_competitors = render_competitors(node.competitors)
    x_extra_info = "" if node.extra_info is None else render_extra_info(node.extra_info)
    return (
        f"<sport_event"
        f' id="{escaped[node.id]}"'
        f' name="{escaped[node.name]}"'
        f"{x_scheduled}"
        f"{x_start_time_tbd}"
        f"{x_status}"
        f"{x_liveodds}"
        f">{x_tournament}{x_competitors}{x_extra_info}</sport_event>"
    )


class TournamentList(msgspec.Struct, frozen=True, kw_only=True):
    """Tournaments of one sport.

    Attributes:
        tournament: One tournament.
    """

    tournament: tuple[Tournament, ...] = ()


def render_tournament_list(node: TournamentList) -> str:
    """The element `<tournaments>`."""
    x_tournament = "".join([render_tournament(item) for item in node.tournament])
    content = f"{x_tournament}"
    end = f">{content}</tournaments>" if content else "/>"
    return f"<tournaments{end}"


class TournamentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One tournament.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        tournament: The tournament.
        competitors: Who takes part; the same as within the tournament.
        response: In the place of the content, when there is no such thing.
    """

    generated_at: int | None = None
    tournament: Tournament | None = None
    competitors: Competitors | None = None
    response: NotFound | None = None


def write_tournament_info(node: TournamentInfo) -> bytes:
    """The document `<tournament_info>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_tournament = "" if node.tournament is None else render_tournament(node.tournament)
    x_competitors = "" if node.competitors is None else render_competitors(node.competitors)
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_tournament}{x_competitors}{x_response}"
    end = f">{content}</tournament_info>" if content else "/>"
    return (f"<tournament_info{x_generated_at}{end}").encode()


class Tournaments(msgspec.Struct, frozen=True, kw_only=True):
    """The tournaments.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        tournament: One tournament.
    """

    generated_at: int | None = None
    tournament: tuple[Tournament, ...] = ()


def write_tournaments(node: Tournaments) -> bytes:
    """The document `<tournaments>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_tournament = "".join([render_tournament(item) for item in node.tournament])
    content = f"{x_tournament}"
    end = f">{content}</tournaments>" if content else "/>"
    return (f"<tournaments{x_generated_at}{end}").encode()


class CalculationResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a combination, and what can be added to it.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        calculation: The price.
        available_selections: What can be added.
    """

    generated_at: int | None = None
    calculation: Calculation
    available_selections: FurtherSelections


def write_calculation_response(node: CalculationResponse) -> bytes:
    """The document `<calculation_response>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_calculation = render_calculation(node.calculation)
    x_available_selections = render_further_selections(node.available_selections)
    return (
        f"<calculation_response"
        f"{x_generated_at}"
        f">{x_calculation}{x_available_selections}</calculation_response>"
    ).encode()


class FilteredCalculationResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a combination, and what can be selected with what is in it.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        calculation: The price.
        available_selections: What can be selected.
    """

    generated_at: int | None = None
    calculation: Calculation
    available_selections: FilteredSelections


def write_filtered_calculation_response(node: FilteredCalculationResponse) -> bytes:
    """The document `<filtered_calculation_response>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_calculation = render_calculation(node.calculation)
    x_available_selections = render_filtered_selections(node.available_selections)
    return (
        f"<filtered_calculation_response"
        f"{x_generated_at}"
        f">{x_calculation}{x_available_selections}</filtered_calculation_response>"
    ).encode()


class FixturesFixture(msgspec.Struct, frozen=True, kw_only=True):
    """One match before it is played.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        fixture: The match.
        response: In the place of the content, when there is no such thing.
    """

    generated_at: int | None = None
    fixture: Fixture | None = None
    response: NotFound | None = None


def write_fixtures_fixture(node: FixturesFixture) -> bytes:
    """The document `<fixtures_fixture>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_fixture = "" if node.fixture is None else render_fixture(node.fixture)
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_fixture}{x_response}"
    end = f">{content}</fixtures_fixture>" if content else "/>"
    return (f"<fixtures_fixture{x_generated_at}{end}").encode()


class MatchSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One match and where it stands.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        sport_event: The match.
        sport_event_status: Where it stands.
        response: In the place of the content, when there is no such thing.
    """

    generated_at: int | None = None
    sport_event: SportEvent | None = None
    sport_event_status: SummaryStatus | None = None
    response: NotFound | None = None


def write_match_summary(node: MatchSummary) -> bytes:
    """The document `<match_summary>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_sport_event = "" if node.sport_event is None else render_sport_event(node.sport_event)
    x_sport_event_status = (
        "" if node.sport_event_status is None else render_summary_status(node.sport_event_status)
    )
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_sport_event}{x_sport_event_status}{x_response}"
    end = f">{content}</match_summary>" if content else "/>"
    return (f"<match_summary{x_generated_at}{end}").encode()


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """Matches, in the order of their scheduled start.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        total: Matches on all pages of a list that a cursor leads through.
        next_cursor: The cursor of that list's next page; absent on the last.
        sport_event: One match.
    """

    generated_at: int | None = None
    total: int | None = None
    next_cursor: str | None = None
    sport_event: tuple[SportEvent, ...] = ()


def write_schedule(node: Schedule) -> bytes:
    """The document `<schedule>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_total = "" if node.total is None else f' total="{node.total}"'
    x_next_cursor = "" if node.next_cursor is None else f' next_cursor="{escaped[node.next_cursor]}"'
    x_sport_event = "".join([render_sport_event(item) for item in node.sport_event])
    content = f"{x_sport_event}"
    end = f">{content}</schedule>" if content else "/>"
    return (f"<schedule{x_generated_at}{x_total}{x_next_cursor}{end}").encode()


class SportTournaments(msgspec.Struct, frozen=True, kw_only=True):
    """The tournaments of one sport.

    Attributes:
        generated_at: When this content was made. (Unix ms)
        sport: The sport.
        tournaments: Its tournaments.
        response: In the place of the content, when there is no such thing.
    """

    generated_at: int | None = None
    sport: Sport | None = None
    tournaments: TournamentList | None = None
    response: NotFound | None = None


def write_sport_tournaments(node: SportTournaments) -> bytes:
    """The document `<sport_tournaments>`."""
    x_generated_at = "" if node.generated_at is None else f' generated_at="{utc(node.generated_at)}"'
    x_sport = "" if node.sport is None else render_sport(node.sport)
    x_tournaments = "" if node.tournaments is None else render_tournament_list(node.tournaments)
    x_response = "" if node.response is None else render_not_found(node.response)
    content = f"{x_sport}{x_tournaments}{x_response}"
    end = f">{content}</sport_tournaments>" if content else "/>"
    return (f"<sport_tournaments{x_generated_at}{end}").encode()
