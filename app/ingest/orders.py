"""Which move and which hand each operator's command means; pure."""

from functools import singledispatch

import msgspec
from msgspec.structs import replace

from app.domain import awards, fixture, lifecycle, rating, sides_by_hand
from app.domain.changes import Change, MatchChanged
from app.domain.market import Result
from app.domain.match import Match
from app.domain.match_info import MatchInfo
from app.domain.settlement import VoidWindow
from app.ingest import commands as c
from app.ingest import hands
from app.ingest.hands import Hand
from app.kit.errors import Field, Invalid


class Order(msgspec.Struct, frozen=True):
    """What becomes of the match, what changed, and what is done to its markets by hand."""

    after: Match
    changes: tuple[Change, ...] = (MatchChanged(),)
    hand: Hand = hands.untouched


@singledispatch
def carried_out(command: c.Command, match: Match, now: int) -> Order:
    """The order that `command` is, given to this match at `now` (ms).

    Raises `Conflict`, which says the present state, or `Invalid` with the offending field. What depends on
    the book is refused by the order's hand.
    """
    raise TypeError(f"no order for {type(command).__name__}")


@carried_out.register
def _(command: c.Schedule, match: Match, now: int) -> Order:
    return Order(*lifecycle.schedule(match, command.scheduled_at))


@carried_out.register
def _(command: c.Cancel, match: Match, now: int) -> Order:
    return Order(*lifecycle.cancel(match, now))


@carried_out.register
def _(command: c.SetTeams, match: Match, now: int) -> Order:
    if command.team_a == command.team_b:
        raise _wrong("team_b", "A team does not play against itself.", "same_team", command.team_b)
    return Order(
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


@carried_out.register
def _(command: c.Rate, match: Match, now: int) -> Order:
    strengths = command.strength_a, command.strength_b
    return Order(*rating.rate(match, *strengths, allow_unrated=command.allow_unrated))


@carried_out.register
def _(command: c.RenameTeam, match: Match, now: int) -> Order:
    return Order(*fixture.rename_team(match, c.slot(command.team), command.name))


@carried_out.register
def _(command: c.SetFormat, match: Match, now: int) -> Order:
    best_of = int(command.bo_type.removeprefix("bo")) if command.bo_type else None
    return Order(
        *fixture.set_format(
            match,
            best_of=best_of,
            max_rounds=command.max_rounds,
            overtime_rounds=command.overtime_rounds,
        )
    )


@carried_out.register
def _(command: c.SetMaps, match: Match, now: int) -> Order:
    chosen = [step.map for step in command.vetoes if step.action != "ban"]
    if len(set(chosen)) < len(chosen):
        raise _wrong("vetoes", "A map is played once.", "same_map", chosen)
    return Order(*fixture.set_maps(match, [step.veto for step in command.vetoes]))


@carried_out.register
def _(command: c.Describe, match: Match, now: int) -> Order:
    about = MatchInfo(
        streams=tuple(given.stream for given in command.streams),
        demo_url=command.demo_url,
        external_id=command.external_id,
        source_url=command.source_url,
        data_delay_seconds=command.data_delay_seconds,
    )
    after, changes = fixture.describe(match, about)
    return Order(replace(after, tournament_id=command.tournament_id), changes)


@carried_out.register
def _(command: c.Suspend, match: Match, now: int) -> Order:
    return Order(*lifecycle.suspend(match, command.reason))


@carried_out.register
def _(command: c.Unsuspend, match: Match, now: int) -> Order:
    return Order(*lifecycle.unsuspend(match))


@carried_out.register
def _(command: c.NameSides, match: Match, now: int) -> Order:
    return Order(*sides_by_hand.name_sides(match, c.slot(command.ct), now))


@carried_out.register
def _(command: c.AwardMap, match: Match, now: int) -> Order:
    after, changes = awards.award_map(match, c.slot(command.winner), now)
    return Order(after, changes, hands.map_awarded(match))


@carried_out.register
def _(command: c.AwardMatch, match: Match, now: int) -> Order:
    after, changes = awards.award_match(match, c.slot(command.winner), now)
    return Order(after, changes, hands.match_awarded(match))


@carried_out.register
def _(command: c.VoidMarket, match: Match, now: int) -> Order:
    if (window := _window(command, now)) is None:
        return Order(match, (), hands.voided(command.key, command.void_reason_id, command.reason))
    return Order(match, (), hands.bets_voided(command.key, window, command.void_reason_id, command.reason))


@carried_out.register
def _(command: c.SettleMarket, match: Match, now: int) -> Order:
    return Order(match, (), hands.settled(command.key, Result(command.result), command.reason))


@carried_out.register
def _(command: c.RollBackMarket, match: Match, now: int) -> Order:
    if (window := _window(command, now)) is None:
        return Order(match, (), hands.rolled_back(command.key, command.reason, release=command.release))
    if command.release:
        raise _wrong("release", "A market whose bets are voided is not held.", "not_held", True)
    return Order(match, (), hands.bets_taken_back(command.key, window, command.reason))


def _window(command: c.OnBets, now: int) -> VoidWindow | None:
    """The window that a command is about; None for the market as a whole."""
    window = command.window
    if window is None:
        for name in ("start_time", "end_time"):
            if (given := getattr(command, name)) is not None:
                raise _wrong(name, "A window has a start_time and an end_time.", "half_a_window", given)
        return None
    if window.start_time > window.end_time:
        what = "A window ends when it has begun, or later."
        raise _wrong("end_time", what, "before_start", window.end_time)
    if window.end_time > now:
        what = f"Bets of the future cannot be void; the service's clock shows {now}."
        raise _wrong("end_time", what, "in_the_future", window.end_time)
    return window


def _wrong(field: str, what: str, kind: str, given: object) -> Invalid:
    return Invalid(Field(("body", field), what, kind, given))
