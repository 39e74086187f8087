"""The effect of each operator's command on a match, its controls and its markets; pure."""

from itertools import pairwise

import msgspec
from msgspec.structs import replace

from app.commands import market_actions
from app.commands import match_commands as c
from app.commands import trading_commands as t
from app.commands.market_actions import ManualMarketAction
from app.commands.match_commands import Command, team_of
from app.domain import fixture, lifecycle, restarts, round_totals, strength
from app.domain.changes import ControlsChanged, DetailsChanged, MatchChange
from app.domain.doubts import REFERENCES, clear_doubt
from app.domain.market import Result
from app.domain.match import Match
from app.domain.match_info import MatchInfo
from app.domain.references import of_other_teams
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
from app.trading.offer_plan import is_possible_line
from app.trading.registry import RULES
from app.trading.rules import Rule, Specifiers, parse_specifiers


class Effect(msgspec.Struct, frozen=True):
    """The match after a command, its changes, and the manual action on its markets."""

    after: Match
    changes: tuple[MatchChange, ...] = (DetailsChanged(),)
    action: ManualMarketAction = market_actions.no_action


def effect_of(command: Command, match: Match, now: int) -> Effect:
    """The effect of `command` on this match at `now` (ms).

    Raises `Conflict` with the present state, or `Invalid` with the offending field. Conflicts with the book
    are raised by the effect's `action`.
    """
    match command:
        case c.Schedule():
            return Effect(*lifecycle.schedule(match, command.scheduled_at))
        case c.Cancel():
            return Effect(*lifecycle.cancel(match, now))
        case c.Suspend():
            return Effect(*lifecycle.suspend(match, command.reason))
        case c.Unsuspend():
            return Effect(*lifecycle.unsuspend(match))
        case c.NameSides():
            return Effect(*fixture.set_sides(match, team_of(command.ct), now))
        case c.AcceptRestart():
            return Effect(*restarts.accept_restart(match))
        case c.KeepBranch():
            return Effect(*restarts.keep_branch(match))
        case c.AcceptEvents():
            return Effect(*round_totals.accept_events(match, command.map, command.round))
        case c.VoidEvents():
            return Effect(*round_totals.void_events(match, command.map, command.round))
        case c.AwardMap():
            after, changes = lifecycle.award_map(match, team_of(command.winner), now)
            return Effect(after, changes, market_actions.void_at_map_award(match))
        case c.AwardMatch():
            after, changes = lifecycle.award_match(match, team_of(command.winner), now)
            return Effect(after, changes, market_actions.void_at_match_award(match))
        case c.OnMarket():
            return Effect(match, (), _action_on_market(command, now))
        case t.TradingCommand():
            lifecycle.require_not_over(match, "traded")
            after = replace(match, controls=_controls_after(command, match, now))
            return Effect(after, (ControlsChanged(),), market_actions.trading_action(command, match))
        case _:
            return _effect_on_fixture(command, match, now)


def _effect_on_fixture(command: Command, match: Match, now: int) -> Effect:
    """The effect of a command that describes the match."""
    match command:
        case c.SetTeams():
            if command.team_a == command.team_b:
                what = "A team does not play against itself."
                raise _wrong("team_b", what, "same_team", command.team_b)
            changed = fixture.set_teams(
                match,
                command.team_a,
                command.team_b,
                home_strength=command.strength_a,
                away_strength=command.strength_b,
                home_id=command.id_a,
                away_id=command.id_b,
                allow_unrated=command.allow_unrated,
            )
            changed = _without_references(match, changed[0], now), changed[1]
        case c.Rate():
            strengths = command.strength_a, command.strength_b
            changed = strength.set_strengths(match, *strengths, allow_unrated=command.allow_unrated)
        case c.RenameTeam():
            changed = fixture.rename_team(match, team_of(command.team), command.name)
        case c.SetFormat():
            changed = fixture.set_format(
                match,
                best_of=int(command.bo_type.removeprefix("bo")) if command.bo_type else None,
                max_rounds=command.max_rounds,
                overtime_rounds=command.overtime_rounds,
            )
        case c.SetMaps():
            chosen = [step.map for step in command.vetoes if step.action != "ban"]
            if len(set(chosen)) < len(chosen):
                raise _wrong("vetoes", "A map is played once.", "same_map", chosen)
            changed = fixture.set_maps(match, [step.veto for step in command.vetoes])
        case c.Describe():
            changed = _describe(command, match)
        case _:
            raise TypeError(f"no effect for {type(command).__name__}")
    return Effect(*changed)


def _without_references(before: Match, match: Match, now: int) -> Match:
    """Reference prices of other teams say nothing of these."""
    if (before.home, before.home_id, before.away, before.away_id) == (
        match.home,
        match.home_id,
        match.away,
        match.away_id,
    ):
        return match
    match = replace(match, anchor=None, references=of_other_teams(now))
    return clear_doubt(match, REFERENCES)


def _describe(command: c.Describe, match: Match) -> tuple[Match, tuple[MatchChange, ...]]:
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
    return replace(after, tournament_id=command.tournament_id), changes


def _action_on_market(command: c.OnMarket, now: int) -> ManualMarketAction:
    """The manual action of a settlement, a void, a rollback or a correction."""
    key, reason = command.key, command.reason
    match command:
        case c.SettleMarket():
            return market_actions.settle(key, Result(command.result), reason)
        case c.UpholdClaim(result="void", void_reason_id=void_reason_id):
            return market_actions.void(key, void_reason_id, reason)
        case c.UpholdClaim():
            return market_actions.settle(key, Result(command.result), reason)
        case c.VoidMarket(void_reason_id=void_reason_id):
            window = _window(command, now)
            if window is None:
                return market_actions.void(key, void_reason_id, reason)
            return market_actions.void_bets(key, window, void_reason_id, reason)
        case c.RollBackMarket():
            window = _window(command, now)
            if window is None:
                return market_actions.roll_back(key, reason, release=command.release)
            if command.release:
                raise _wrong("release", "A market whose bets are voided is not held.", "not_held", True)
            return market_actions.restore_bets(key, window, reason)
    raise TypeError(f"no effect for {type(command).__name__}")


def _controls_after(command: t.TradingCommand, match: Match, now: int) -> TradingControls:
    """The controls of the match after `command` at `now` (ms).

    Raises `Invalid` with the offending field, or `Conflict`. What the book does not allow is refused by
    `market_actions`.
    """
    controls = match.controls
    match command:
        case t.SuspendMarket():
            item = SuspendedMarket(*command.key, command.reason)
            return replace(controls, suspended_markets=with_item(controls.suspended_markets, item))
        case t.ReleaseMarket():
            return replace(controls, suspended_markets=without(controls.suspended_markets, command.key))
        case t.SuspendGroup():
            group = SuspendedGroup(command.group, command.reason)
            return replace(controls, suspended_groups=with_item(controls.suspended_groups, group))
        case t.ReleaseGroup():
            return replace(controls, suspended_groups=without(controls.suspended_groups, command.group))
        case t.CloseType():
            _rule(command.market_id)
            closed = ClosedType(command.market_id, command.reason)
            return replace(controls, closed_types=with_item(controls.closed_types, closed))
        case t.OpenType():
            if find(controls.closed_types, command.market_id) is None:
                raise Conflict(f"Market type {command.market_id} is not closed on this match.")
            return replace(controls, closed_types=without(controls.closed_types, command.market_id))
        case t.AddLine() | t.WithdrawLine():
            line = _line_control(command, match, now)
            return replace(controls, lines=with_item(controls.lines, line))
        case t.SetMargin():
            family = _family(command.market_id)
            margin = MarginControl(command.margin, family, command.phase, command.long_shots)
            return replace(controls, margins=with_item(controls.margins, margin))
        case t.ClearMargin():
            key = _family(command.market_id), command.phase
            if find(controls.margins, key) is None:
                raise Conflict("No margin is set for this type and phase on this match.")
            return replace(controls, margins=without(controls.margins, key))
        case t.SetMaxMove():
            return replace(controls, max_move=command.max_move)
        case t.ShiftStrength():
            return replace(controls, shifts=with_item(controls.shifts, _shift(command, match)))
        case t.HoldProbability():
            return replace(controls, held=with_item(controls.held, _held(command, controls)))
        case t.ReleaseProbability():
            name = _rule(command.market_id).group(_specifiers(command.specifiers))
            if find(controls.held, name) is None:
                raise Conflict(f"The probability of {name} is not held.")
            return replace(controls, held=without(controls.held, name))
    raise TypeError(f"no controls for {type(command).__name__}")


def _line_control(command: t.AddLine | t.WithdrawLine, match: Match, now: int) -> LineControl:
    rule = _rule(command.market_id)
    if rule.ladder is None:
        raise _wrong("market_id", "Markets of this type have no lines.", "no_lines", command.market_id)
    specifiers, added = _specifiers(command.specifiers), isinstance(command, t.AddLine)
    if added and not is_possible_line(match, rule, specifiers, now):
        raise Conflict(f"Market {command.market_id} has no line {command.specifiers!r} that is open now.")
    return LineControl(rule.group(specifiers), added, command.reason)


def _shift(command: t.ShiftStrength, match: Match) -> StrengthShift:
    """The sum of this shift and those of the same moment."""
    play = match.map
    number = play.number if play else sum(one.status == "finished" for one in match.maps) + 1
    key = number, play.rounds_won if play else 0
    known = find(match.controls.shifts, key)
    points = command.points if team_of(command.team) == "home" else -command.points
    return StrengthShift(*key, points + (known.points if known else 0.0))


def _held(command: t.HoldProbability, controls: TradingControls) -> HeldProbability:
    rule, specifiers = _rule(command.market_id), _specifiers(command.specifiers)
    item = HeldProbability(rule.group(specifiers), *command.key, command.probability, command.reason)
    for other in controls.held:
        if other.group != item.group and contradicts(other.market_key, item.market_key):
            raise Conflict(f"The probability of {other.group} is held, which could contradict this one.")
    return item


def _rule(type_id: int) -> Rule:
    rule = RULES.get(type_id)
    if rule is None:
        raise _wrong("market_id", "No such market type.", "unknown_market", type_id)
    return rule


def _family(type_id: int | None) -> str:
    return "" if type_id is None else _rule(type_id).family


def _specifiers(text: str) -> Specifiers:
    try:
        return parse_specifiers(text)
    except ValueError as error:
        raise _wrong("specifiers", str(error), "value_error", text) from error


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
