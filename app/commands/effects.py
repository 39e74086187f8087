"""The effect of each operator's command on a match, its controls and its markets; pure."""

from functools import singledispatch
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from app.commands import market_actions
from app.commands import match_commands as c
from app.commands import trading_commands as t
from app.commands.market_actions import ManualMarketAction
from app.commands.match_commands import Command, team_of
from app.commands.trading_commands import TradingCommand
from app.domain import awards, fixture, lifecycle, restarts, round_totals, strength
from app.domain.changes import ControlsChanged, DetailsChanged, MatchChange
from app.domain.market import Result
from app.domain.match import Match
from app.domain.match_info import MatchInfo
from app.domain.settlement import VoidWindow
from app.domain.trading_controls import (
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
from app.kit.errors import Conflict, Field, Invalid
from app.trading.market_controls import contradicts
from app.trading.possible_lines import is_possible_line
from app.trading.registry import RULES
from app.trading.rules import Rule
from app.trading.specifiers import Specifiers, parse


class Effect(msgspec.Struct, frozen=True):
    """The match after a command, its changes, and the manual action on its markets."""

    after: Match
    changes: tuple[MatchChange, ...] = (DetailsChanged(),)
    action: ManualMarketAction = market_actions.no_action


@singledispatch
def effect_of(command: Command, match: Match, now: int) -> Effect:
    """The effect of `command` on this match at `now` (ms).

    Raises `Conflict` with the present state, or `Invalid` with the offending field. Conflicts with the book
    are raised by the effect's `action`.
    """
    raise TypeError(f"no effect for {type(command).__name__}")


@effect_of.register
def _(command: c.Schedule, match: Match, now: int) -> Effect:
    return Effect(*lifecycle.schedule(match, command.scheduled_at))


@effect_of.register
def _(command: c.Cancel, match: Match, now: int) -> Effect:
    return Effect(*lifecycle.cancel(match, now))


@effect_of.register
def _(command: c.SetTeams, match: Match, now: int) -> Effect:
    if command.team_a == command.team_b:
        raise _wrong("team_b", "A team does not play against itself.", "same_team", command.team_b)
    return Effect(
        *fixture.set_teams(
            match,
            command.team_a,
            command.team_b,
            home_strength=command.strength_a,
            away_strength=command.strength_b,
            home_id=command.id_a,
            away_id=command.id_b,
            allow_unrated=command.allow_unrated,
        )
    )


@effect_of.register
def _(command: c.Rate, match: Match, now: int) -> Effect:
    strengths = command.strength_a, command.strength_b
    return Effect(*strength.set_strengths(match, *strengths, allow_unrated=command.allow_unrated))


@effect_of.register
def _(command: c.RenameTeam, match: Match, now: int) -> Effect:
    return Effect(*fixture.rename_team(match, team_of(command.team), command.name))


@effect_of.register
def _(command: c.SetFormat, match: Match, now: int) -> Effect:
    best_of = int(command.bo_type.removeprefix("bo")) if command.bo_type else None
    return Effect(
        *fixture.set_format(
            match,
            best_of=best_of,
            max_rounds=command.max_rounds,
            overtime_rounds=command.overtime_rounds,
        )
    )


@effect_of.register
def _(command: c.SetMaps, match: Match, now: int) -> Effect:
    chosen = [step.map for step in command.vetoes if step.action != "ban"]
    if len(set(chosen)) < len(chosen):
        raise _wrong("vetoes", "A map is played once.", "same_map", chosen)
    return Effect(*fixture.set_maps(match, [step.veto for step in command.vetoes]))


@effect_of.register
def _(command: c.Describe, match: Match, now: int) -> Effect:
    for stream in command.streams:
        anchors = stream.vod_anchors
        if not all(
            one.at < following.at and one.offset_seconds < following.offset_seconds
            for one, following in pairwise(anchors)
        ):
            what = "Later anchors of a recording have a higher `at` and a higher `offset_seconds`."
            raise _wrong("streams", what, "unordered", msgspec.to_builtins(anchors))
    about = MatchInfo(
        streams=tuple(each.stream for each in command.streams),
        demo_url=command.demo_url,
        external_id=command.external_id,
        source_url=command.source_url,
        data_delay_seconds=command.data_delay_seconds,
    )
    after, changes = fixture.set_info(match, about)
    return Effect(replace(after, tournament_id=command.tournament_id), changes)


@effect_of.register
def _(command: c.Suspend, match: Match, now: int) -> Effect:
    return Effect(*lifecycle.suspend(match, command.reason))


@effect_of.register
def _(command: c.Unsuspend, match: Match, now: int) -> Effect:
    return Effect(*lifecycle.unsuspend(match))


@effect_of.register
def _(command: c.NameSides, match: Match, now: int) -> Effect:
    return Effect(*fixture.set_sides(match, team_of(command.ct), now))


@effect_of.register
def _(command: c.AcceptRestart, match: Match, now: int) -> Effect:
    return Effect(*restarts.accept_restart(match))


@effect_of.register
def _(command: c.KeepBranch, match: Match, now: int) -> Effect:
    return Effect(*restarts.keep_branch(match))


@effect_of.register
def _(command: c.AcceptEvents, match: Match, now: int) -> Effect:
    return Effect(*round_totals.accept_events(match, command.map, command.round))


@effect_of.register
def _(command: c.VoidEvents, match: Match, now: int) -> Effect:
    return Effect(*round_totals.void_events(match, command.map, command.round))


@effect_of.register
def _(command: c.AwardMap, match: Match, now: int) -> Effect:
    after, changes = awards.award_map(match, team_of(command.winner), now)
    return Effect(after, changes, market_actions.void_at_map_award(match))


@effect_of.register
def _(command: c.AwardMatch, match: Match, now: int) -> Effect:
    after, changes = awards.award_match(match, team_of(command.winner), now)
    return Effect(after, changes, market_actions.void_at_match_award(match))


@effect_of.register
def _(command: c.VoidMarket, match: Match, now: int) -> Effect:
    if (window := _window(command, now)) is None:
        return Effect(match, (), market_actions.void(command.key, command.void_reason_id, command.reason))
    return Effect(
        match, (), market_actions.void_bets(command.key, window, command.void_reason_id, command.reason)
    )


@effect_of.register
def _(command: c.SettleMarket, match: Match, now: int) -> Effect:
    return Effect(match, (), market_actions.settle(command.key, Result(command.result), command.reason))


@effect_of.register
def _(command: c.RollBackMarket, match: Match, now: int) -> Effect:
    if (window := _window(command, now)) is None:
        return Effect(
            match, (), market_actions.roll_back(command.key, command.reason, release=command.release)
        )
    if command.release:
        raise _wrong("release", "A market whose bets are voided is not held.", "not_held", True)
    return Effect(match, (), market_actions.restore_bets(command.key, window, command.reason))


@effect_of.register
def _(command: TradingCommand, match: Match, now: int) -> Effect:
    lifecycle.require_not_over(match, "traded")
    controls = _controls_after(command, match, now)
    action = market_actions.trading_action(command, match)
    return Effect(replace(match, controls=controls), (ControlsChanged(),), action)


@singledispatch
def _controls_after(command: t.TradingCommand, match: Match, now: int) -> TradingControls:
    """The controls of the match after `command` at `now` (ms).

    Raises `Invalid` with the offending field, or `Conflict`. What the book does not allow is refused by
    `market_actions`.
    """
    raise TypeError(f"no controls for {type(command).__name__}")


@_controls_after.register
def _(command: t.SuspendMarket, match: Match, now: int) -> TradingControls:
    item = SuspendedMarket(*command.key, command.reason)
    return replace(match.controls, suspended_markets=with_item(match.controls.suspended_markets, item))


@_controls_after.register
def _(command: t.ReleaseMarket, match: Match, now: int) -> TradingControls:
    return replace(match.controls, suspended_markets=without(match.controls.suspended_markets, command.key))


@_controls_after.register
def _(command: t.SuspendGroup, match: Match, now: int) -> TradingControls:
    item = SuspendedGroup(command.group, command.reason)
    return replace(match.controls, suspended_groups=with_item(match.controls.suspended_groups, item))


@_controls_after.register
def _(command: t.ReleaseGroup, match: Match, now: int) -> TradingControls:
    return replace(match.controls, suspended_groups=without(match.controls.suspended_groups, command.group))


@_controls_after.register
def _(command: t.CloseType, match: Match, now: int) -> TradingControls:
    _rule(command.market_id)
    item = ClosedType(command.market_id, command.reason)
    return replace(match.controls, closed_types=with_item(match.controls.closed_types, item))


@_controls_after.register
def _(command: t.OpenType, match: Match, now: int) -> TradingControls:
    if find(match.controls.closed_types, command.market_id) is None:
        raise Conflict(f"Market type {command.market_id} is not closed on this match.")
    return replace(match.controls, closed_types=without(match.controls.closed_types, command.market_id))


@_controls_after.register
def _(command: t.AddLine, match: Match, now: int) -> TradingControls:
    rule, specifiers = _line(command)
    if not is_possible_line(match, rule, specifiers, now):
        raise Conflict(f"Market {command.market_id} has no line {command.specifiers!r} that is open now.")
    return _with_line(match, LineControl(rule.group(specifiers), True, command.reason))


@_controls_after.register
def _(command: t.WithdrawLine, match: Match, now: int) -> TradingControls:
    rule, specifiers = _line(command)
    return _with_line(match, LineControl(rule.group(specifiers), False, command.reason))


def _with_line(match: Match, line: LineControl) -> TradingControls:
    return replace(match.controls, lines=with_item(match.controls.lines, line))


@_controls_after.register
def _(command: t.SetMargin, match: Match, now: int) -> TradingControls:
    item = MarginControl(command.margin, _family(command.market_id), command.phase, command.long_shots)
    return replace(match.controls, margins=with_item(match.controls.margins, item))


@_controls_after.register
def _(command: t.ClearMargin, match: Match, now: int) -> TradingControls:
    key = _family(command.market_id), command.phase
    if find(match.controls.margins, key) is None:
        raise Conflict("No margin is set for this type and phase on this match.")
    return replace(match.controls, margins=without(match.controls.margins, key))


@_controls_after.register
def _(command: t.SetMaxMove, match: Match, now: int) -> TradingControls:
    return replace(match.controls, max_move=command.max_move)


@_controls_after.register
def _(command: t.ShiftStrength, match: Match, now: int) -> TradingControls:
    play = match.map
    number = play.number if play else sum(one.status == "finished" for one in match.maps) + 1
    key = number, play.rounds_won if play else 0
    known = find(match.controls.shifts, key)
    points = command.points if team_of(command.team) == "home" else -command.points
    item = StrengthShift(*key, points + (known.points if known else 0.0))
    return replace(match.controls, shifts=with_item(match.controls.shifts, item))


@_controls_after.register
def _(command: t.HoldProbability, match: Match, now: int) -> TradingControls:
    rule, specifiers = _rule(command.market_id), _specifiers(command.specifiers)
    item = HeldProbability(rule.group(specifiers), *command.key, command.probability, command.reason)
    for other in match.controls.held:
        if other.group != item.group and contradicts(other.market_key, item.market_key):
            raise Conflict(f"The probability of {other.group} is held, which could contradict this one.")
    return replace(match.controls, held=with_item(match.controls.held, item))


@_controls_after.register
def _(command: t.ReleaseProbability, match: Match, now: int) -> TradingControls:
    group = _rule(command.market_id).group(_specifiers(command.specifiers))
    if find(match.controls.held, group) is None:
        raise Conflict(f"The probability of {group} is not held.")
    return replace(match.controls, held=without(match.controls.held, group))


def _rule(type_id: int) -> Rule:
    rule = RULES.get(type_id)
    if rule is None:
        raise _wrong("market_id", "No such market type.", "unknown_market", type_id)
    return rule


def _family(type_id: int | None) -> str:
    return "" if type_id is None else _rule(type_id).family


def _specifiers(text: str) -> Specifiers:
    try:
        return parse(text)
    except ValueError as error:
        raise _wrong("specifiers", str(error), "value_error", text) from error


def _line(command: t.OfMarket) -> tuple[Rule, Specifiers]:
    rule = _rule(command.market_id)
    if rule.ladder is None:
        what = "Markets of this type have no lines."
        raise _wrong("market_id", what, "no_lines", command.market_id)
    return rule, _specifiers(command.specifiers)


def _window(command: c.OnBets, now: int) -> VoidWindow | None:
    """The window of a command; None for the whole market."""
    window = command.window
    if window is None:
        for name in ("start_time", "end_time"):
            if (value := getattr(command, name)) is not None:
                raise _wrong(name, "A window has a start_time and an end_time.", "half_a_window", value)
        return None
    if window.start_time > window.end_time:
        what = "A window ends when it has begun, or later."
        raise _wrong("end_time", what, "before_start", window.end_time)
    if window.end_time > now:
        what = f"Bets of the future cannot be void; the service's clock shows {now}."
        raise _wrong("end_time", what, "in_the_future", window.end_time)
    return window


def _wrong(field: str, what: str, kind: str, value: object) -> Invalid:
    return Invalid(Field(("body", field), what, kind, value))
