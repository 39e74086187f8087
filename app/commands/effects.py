"""The effect of each operator command on a match and its markets; pure."""

from functools import singledispatch
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from app.commands import control_effects, market_actions
from app.commands import match_commands as c
from app.commands.command_fields import Command, team_of
from app.commands.market_actions import ManualMarketAction
from app.commands.trading_commands import TradingCommand
from app.domain import fixture, lifecycle, restarts, round_totals, strength
from app.domain.changes import ControlsChanged, DetailsChanged, MatchChange
from app.domain.market import Result
from app.domain.match import Match
from app.domain.match_info import MatchInfo
from app.domain.settlement import VoidWindow
from app.kit.errors import Field, Invalid


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
    after, changes = lifecycle.award_map(match, team_of(command.winner), now)
    return Effect(after, changes, market_actions.void_at_map_award(match))


@effect_of.register
def _(command: c.AwardMatch, match: Match, now: int) -> Effect:
    after, changes = lifecycle.award_match(match, team_of(command.winner), now)
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
    controls = control_effects.controls_after(command, match, now)
    action = control_effects.market_action(command, match)
    return Effect(replace(match, controls=controls), (ControlsChanged(),), action)


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
