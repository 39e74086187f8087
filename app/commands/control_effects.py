"""How traders' commands change the controls of a match, and what they need of its book; pure."""

from functools import partial, singledispatch

from msgspec.structs import replace

from app.commands import trading_commands as t
from app.commands.command_fields import team_of
from app.commands.market_actions import ManualMarketAction, find_market, no_action
from app.domain.market import Book, Market, MarketKey
from app.domain.match import Match
from app.domain.suspension_reasons import OFF_OFFER
from app.domain.trading_controls import (
    MOVED_TOO_FAR,
    ClosedType,
    HeldProbability,
    LineControl,
    MarginControl,
    StrengthShift,
    SuspendedGroup,
    SuspendedMarket,
    TradingControls,
    find,
    with_item,
    without,
)
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.trading.engine import Reaction
from app.trading.market_controls import contradicts
from app.trading.offer_plan import is_possible_line
from app.trading.registry import RULES
from app.trading.rules import Rule, Specifiers, parse_specifiers


@singledispatch
def controls_after(command: t.TradingCommand, match: Match, now: int) -> TradingControls:
    """The controls of the match after `command` at `now` (ms).

    Raises `Invalid` with the offending field, or `Conflict`. What the book does not allow is refused by
    `market_action`.
    """
    raise TypeError(f"no controls for {type(command).__name__}")


@controls_after.register
def _(command: t.SuspendMarket, match: Match, now: int) -> TradingControls:
    item = SuspendedMarket(*command.key, command.reason)
    return replace(match.controls, suspended_markets=with_item(match.controls.suspended_markets, item))


@controls_after.register
def _(command: t.ReleaseMarket, match: Match, now: int) -> TradingControls:
    return replace(match.controls, suspended_markets=without(match.controls.suspended_markets, command.key))


@controls_after.register
def _(command: t.SuspendGroup, match: Match, now: int) -> TradingControls:
    item = SuspendedGroup(command.group, command.reason)
    return replace(match.controls, suspended_groups=with_item(match.controls.suspended_groups, item))


@controls_after.register
def _(command: t.ReleaseGroup, match: Match, now: int) -> TradingControls:
    return replace(match.controls, suspended_groups=without(match.controls.suspended_groups, command.group))


@controls_after.register
def _(command: t.CloseType, match: Match, now: int) -> TradingControls:
    _rule(command.market_id)
    item = ClosedType(command.market_id, command.reason)
    return replace(match.controls, closed_types=with_item(match.controls.closed_types, item))


@controls_after.register
def _(command: t.OpenType, match: Match, now: int) -> TradingControls:
    if find(match.controls.closed_types, command.market_id) is None:
        raise Conflict(f"Market type {command.market_id} is not closed on this match.")
    return replace(match.controls, closed_types=without(match.controls.closed_types, command.market_id))


@controls_after.register
def _(command: t.AddLine, match: Match, now: int) -> TradingControls:
    rule, specifiers = _line(command)
    if not is_possible_line(match, rule, specifiers, now):
        raise Conflict(f"Market {command.market_id} has no line {command.specifiers!r} that is open now.")
    return _with_line(match, LineControl(rule.group(specifiers), True, command.reason))


@controls_after.register
def _(command: t.WithdrawLine, match: Match, now: int) -> TradingControls:
    rule, specifiers = _line(command)
    return _with_line(match, LineControl(rule.group(specifiers), False, command.reason))


def _with_line(match: Match, line: LineControl) -> TradingControls:
    return replace(match.controls, lines=with_item(match.controls.lines, line))


@controls_after.register
def _(command: t.SetMargin, match: Match, now: int) -> TradingControls:
    item = MarginControl(command.margin, _family(command.market_id), command.phase, command.long_shots)
    return replace(match.controls, margins=with_item(match.controls.margins, item))


@controls_after.register
def _(command: t.ClearMargin, match: Match, now: int) -> TradingControls:
    key = _family(command.market_id), command.phase
    if find(match.controls.margins, key) is None:
        raise Conflict("No margin is set for this type and phase on this match.")
    return replace(match.controls, margins=without(match.controls.margins, key))


@controls_after.register
def _(command: t.SetMaxMove, match: Match, now: int) -> TradingControls:
    return replace(match.controls, max_move=command.max_move)


@controls_after.register
def _(command: t.ShiftStrength, match: Match, now: int) -> TradingControls:
    play = match.map
    number = play.number if play else sum(one.status == "finished" for one in match.maps) + 1
    key = number, play.rounds_won if play else 0
    known = find(match.controls.shifts, key)
    points = command.points if team_of(command.team) == "home" else -command.points
    item = StrengthShift(*key, points + (known.points if known else 0.0))
    return replace(match.controls, shifts=with_item(match.controls.shifts, item))


@controls_after.register
def _(command: t.HoldProbability, match: Match, now: int) -> TradingControls:
    rule, specifiers = _rule(command.market_id), _specifiers(command.specifiers)
    item = HeldProbability(rule.group(specifiers), *command.key, command.probability, command.reason)
    for other in match.controls.held:
        if other.group != item.group and contradicts(other.market_key, item.market_key):
            raise Conflict(f"The probability of {other.group} is held, which could contradict this one.")
    return replace(match.controls, held=with_item(match.controls.held, item))


@controls_after.register
def _(command: t.ReleaseProbability, match: Match, now: int) -> TradingControls:
    group = _rule(command.market_id).group(_specifiers(command.specifiers))
    if find(match.controls.held, group) is None:
        raise Conflict(f"The probability of {group} is not held.")
    return replace(match.controls, held=without(match.controls.held, group))


def market_action(command: t.TradingCommand, before: Match) -> ManualMarketAction:
    """What the command does to the book itself, or requires of it: `NotFound` or `Conflict` where it is not
    there."""
    controls = before.controls
    match command:
        case t.SuspendMarket() | t.HoldProbability():
            return partial(_require_open, command.key)
        case t.SuspendGroup(group=group):
            return partial(_require_group, group)
        case t.ReleaseMarket():
            set_by_operator = find(controls.suspended_markets, command.key) is not None
            return lambda book: _release(book, find_market(book, command.key).group, set_by_operator)
        case t.ReleaseGroup(group=group):
            return partial(
                _release, group=group, set_by_operator=find(controls.suspended_groups, group) is not None
            )
    return no_action


def _require_open(key: MarketKey, book: Book) -> Reaction:
    market = find_market(book, key)
    if not market.open or market.held:
        raise Conflict(f"Market {key[0]} {key[1]} is not open: it has a result, or waits for an operator's.")
    return Reaction()


def _require_group(group: str, book: Book) -> Reaction:
    if not any(_is_open_in(group, market) for market in book.values()):
        raise NotFound(f"No open market of this match is in the group {group!r}.")
    return Reaction()


def _release(book: Book, group: str, set_by_operator: bool) -> Reaction:
    """Accept whatever price the markets of the group have now, where one would have moved too far."""
    waiting = [one for one in book.values() if _is_open_in(group, one) and one.reason == MOVED_TOO_FAR]
    if not waiting and not set_by_operator:
        raise Conflict("No operator has suspended this, and its price did not move too far.")
    return Reaction(tuple(replace(market, reason=OFF_OFFER) for market in waiting))


def _is_open_in(group: str, market: Market) -> bool:
    return market.open and market.group == group


def _rule(type_id: int) -> Rule:
    rule = RULES.get(type_id)
    if rule is None:
        raise Invalid(Field(("body", "market_id"), "No such market type.", "unknown_market", type_id))
    return rule


def _family(type_id: int | None) -> str:
    return "" if type_id is None else _rule(type_id).family


def _specifiers(text: str) -> Specifiers:
    try:
        return parse_specifiers(text)
    except ValueError as error:
        raise Invalid(Field(("body", "specifiers"), str(error), "value_error", text)) from error


def _line(command: t.OfMarket) -> tuple[Rule, Specifiers]:
    rule = _rule(command.market_id)
    if rule.ladder is None:
        what = "Markets of this type have no lines."
        raise Invalid(Field(("body", "market_id"), what, "no_lines", command.market_id))
    return rule, _specifiers(command.specifiers)
