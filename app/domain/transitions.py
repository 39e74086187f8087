"""How the facts of a source change a match: facts in, the new state and its changes out.

Nothing is guessed. A fact that does not fit the state (a repeated line, play in warm-up, anything after
the end) changes nothing; what is unknown raises a doubt, which suspends the match until the log clears
it.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from app.domain import facts as f
from app.domain import (
    formats,
    maps,
    presence,
    restarts,
    round_knowledge,
    round_totals,
    timeline,
)
from app.domain.changes import DetailsChanged, MatchChange, MatchChanges
from app.domain.doubts import (
    MISSING_DATA,
    NO_BEGINNING,
    RESTORED,
    SILENT,
    clear_doubt,
    count_uncounted_round,
    raise_doubt,
)
from app.domain.loadout import for_new_round
from app.domain.match import CurrentRound, Match, RoundResult
from app.domain.reported_score import score_reported
from app.domain.rounds import (
    begins_half,
    count_result,
    drop_uncounted_result,
    go_live,
    open_round,
    skip_rounds,
    void_current_round,
)
from app.domain.series import (
    can_start,
    end_map_at_score,
    map_in_play,
    set_map_name,
    start_map,
)
from app.domain.sides import apply_team_line, infer_sides_from_players, switch_player

_LATE_KILL_MILLIS = 2_000  #: ms into a freeze in which a kill is still a late one of the last round


def fold(match: Match, facts: Iterable[f.Fact]) -> tuple[Match, tuple[MatchChange, ...]]:
    """Apply facts in order; returns the match after them and their changes, in order."""
    changes: MatchChanges = []
    checked = False  #: whether the checks left the match as it was
    for fact in facts:
        if match.over:
            match = maps.check_end(match, fact)
            continue
        before, kind = match, type(fact)
        match = restarts.apply_to_play(before, _HANDLERS[kind], fact, changes)
        if checked and kind is not f.RoundWon and _concerns_no_check(before, match, kind):
            continue
        after = match
        if not match.restart:
            after = formats.check_format(count_uncounted_round(before, match, fact))
        after = presence.check_presence(after)
        checked, match = after is match, after
        if match is not before and _visible(match) != _visible(before):
            changes.append(DetailsChanged())
    return match, tuple(changes)


def _concerns_no_check(before: Match, match: Match, kind: type[f.Fact]) -> bool:
    """Whether the fact changed nothing that the checks of a match look at. Three lines of a log in four are
    about equipment and money."""
    if match is before:
        return True
    same = match.maps is before.maps and match.current is before.current and match.doubts is before.doubts
    return same and kind in _ON_EQUIPMENT


def _visible(match: Match) -> tuple[Any, ...]:
    """What clients see or settlements rest on and no other change reports."""
    play = match.map
    shape = (play.home_side, play.unseen, play.max_rounds, play.overtime_rounds) if play else None
    return match.pause, match.suspended, match.warmup, shape


def side_named(match: Match, fact: f.SideNamed, changes: MatchChanges) -> Match:
    return count_result(apply_team_line(match, fact.side, fact.team), changes)


def item_acquired(match: Match, fact: f.ItemAcquired, changes: MatchChanges) -> Match:
    match = round_knowledge.add_item(match, fact)
    play, current = match.map, match.current
    if play is None or play.home_side is not None or current is None or current.phase == "over":
        return match
    if map_in_play(match) is None:
        return match
    return infer_sides_from_players(match, ((fact.player, fact.side),))


def player_listed(match: Match, fact: f.PlayerListed, changes: MatchChanges) -> Match:
    match = presence.count_listed(round_knowledge.player_listed(match, fact), fact)
    return round_totals.add_row(match, fact)


def list_begun(match: Match, fact: f.ListBegun, changes: MatchChanges) -> Match:
    return round_totals.begin_block(presence.list_begun(match), fact)


def list_ended(match: Match, fact: f.ListEnded, changes: MatchChanges) -> Match:
    return round_totals.end_block(presence.list_ended(match), changes)


def clock_set(match: Match, fact: f.ClockSet, changes: MatchChanges) -> Match:
    return replace(match, clock_rules=replace(match.clock_rules, **{fact.name: fact.seconds}))


def side_switched(match: Match, fact: f.SideSwitched, changes: MatchChanges) -> Match:
    match = round_knowledge.switch_side(match, fact)
    return count_result(switch_player(match, fact.player, fact.side), changes)


def freeze_started(match: Match, fact: f.FreezeStarted, changes: MatchChanges) -> Match:
    after = _freeze(match, fact, changes)
    return round_knowledge.begin_freeze(after, fact.at, begins_half=_begins_half(after))


def _begins_half(match: Match) -> bool:
    """Whether the round in its freeze time begins a half, as far as is known: a map may begin with it."""
    play, current = map_in_play(match), match.current
    if play is None:
        return not match.restarting
    return current is not None and current.phase == "freeze" and begins_half(play) and not current.gap


def _freeze(match: Match, fact: f.FreezeStarted, changes: MatchChanges) -> Match:
    current = match.current
    if map_in_play(match) is None or match.restarting:
        return match
    if match.restoring is not None:
        return replace(match, restarting=True)
    if current is None:
        return open_round(match, fact.at, changes)
    if current.phase == "over":
        return _freeze_after_round(match, current, fact.at, changes)
    if current.phase == "live":
        # Where data is missing, the missing part may be its end.
        match = void_current_round(match, changes, replayed=not current.gap)
        return open_round(match, fact.at, changes)
    half = match.map is not None and begins_half(match.map)
    loadouts = for_new_round(match.loadouts, begins_half=half)
    return replace(match, current=replace(current, opened_at=fact.at), loadouts=loadouts)


def _freeze_after_round(match: Match, current: CurrentRound, at: int, changes: MatchChanges) -> Match:
    if current.pending_result is not None and current.knife:
        return replace(match, current=replace(current, break_over=True, opened_at=at))
    return open_round(drop_uncounted_result(match, changes), at, changes)


def round_started(match: Match, fact: f.RoundStarted, changes: MatchChanges) -> Match:
    if can_start(match, ""):
        match = raise_doubt(start_map(match, "", fact.at, changes), "score", NO_BEGINNING)
    if map_in_play(match) is None:
        return match
    if match.handed_over:
        return match
    if match.restarting:
        match = maps.resume_without_score(match, fact.at, changes)
    match = _confirm_knife_round(replace(match, pending_map_end=None), changes)
    if match.current is None or match.current.phase == "over":
        match = round_knowledge.forget_equipment(
            open_round(drop_uncounted_result(match, changes), fact.at, changes)
        )
    if match.current is None or match.current.phase == "live":
        return match
    return round_knowledge.begin_round(go_live(clear_doubt(match, "restart"), fact.at, changes), fact.at)


def _confirm_knife_round(match: Match, changes: MatchChanges) -> Match:
    """Play went on after a first round with knife kills only: it counted."""
    current = match.current
    if current is None or current.pending_result is None:
        return match
    return count_result(replace(match, current=replace(current, break_over=True)), changes)


def killed(match: Match, fact: f.Killed, changes: MatchChanges) -> Match:
    current = match.current
    if map_in_play(match) is None or current is None:
        return match
    if current.phase == "freeze":
        if fact.at < current.opened_at + _LATE_KILL_MILLIS:
            return match
        match = go_live(match, fact.at, changes)
    return timeline.killed(presence.killed(match, fact), fact, changes)


def _in_round(
    act: Callable[[Match, Any, MatchChanges], Match],
) -> Callable[[Match, Any, MatchChanges], Match]:
    """`act`, for facts that are ignored outside a round in play."""

    def only_in_round(match: Match, fact: f.Fact, changes: MatchChanges) -> Match:
        current = match.current
        if map_in_play(match) is None or current is None or current.phase == "freeze":
            return match
        return act(match, fact, changes)

    return only_in_round


def round_won(match: Match, fact: f.RoundWon, changes: MatchChanges) -> Match:
    """Store the result and count it as soon as possible; a score already counted is a repeated line."""
    current, play = match.current, map_in_play(match)
    if play is None or current is None or current.phase == "over" or match.restarting:
        return maps.check_end(match, fact)
    match = replace(match, restoring=None)  # the round went on: no backup was loaded
    total = fact.ct_score + fact.t_score
    if total <= play.rounds_won:
        return match
    won = RoundResult(fact.side, fact.reason, fact.ct_score, fact.t_score, fact.at)
    if total != play.rounds_won + 1:
        return skip_rounds(match, fact.ct_score, fact.t_score, changes)
    return count_result(replace(match, current=replace(current, phase="over", pending_result=won)), changes)


def map_ended(match: Match, fact: f.MapEnded, changes: MatchChanges) -> Match:
    match = set_map_name(match, fact.map_name)
    play = match.map
    if play is None or fact.map_name not in ("", play.name):
        return match
    return end_map_at_score(
        _confirm_knife_round(match, changes), fact.ct_score, fact.t_score, fact.at, changes
    )


def paused(match: Match, fact: f.Paused, changes: MatchChanges) -> Match:
    return replace(match, pause=fact.reason)


def resumed(match: Match, fact: f.Resumed, changes: MatchChanges) -> Match:
    return round_knowledge.restart_freeze_clock(replace(match, pause=""), fact.at)


def data_lost(match: Match, fact: f.DataLost, changes: MatchChanges) -> Match:
    current = match.current
    if current is not None and current.phase != "over":
        match = replace(match, current=replace(current, gap=True))
    return raise_doubt(round_knowledge.forget(match), MISSING_DATA, fact.reason)


def _clearing(*kinds: str) -> Callable[[Match, Any, MatchChanges], Match]:
    """For facts that end doubts of these kinds, and nothing else."""
    return lambda match, fact, changes: clear_doubt(match, *kinds)


def rival_seen(match: Match, fact: f.RivalSeen, changes: MatchChanges) -> Match:
    return raise_doubt(match, "rival", "a second game server claims the match")


def ignored(match: Match, fact: f.Fact, changes: MatchChanges) -> Match:
    return match


#: Facts that change loadouts, and sometimes show which team plays which side.
_ON_EQUIPMENT = frozenset(
    {f.ItemAcquired, f.ItemLost, f.MoneyChanged, f.PlayerListed, f.ListBegun, f.Equipped, f.Hurt}
)
_HANDLERS: dict[type[f.Fact], Callable[[Match, Any, MatchChanges], Match]] = {
    f.MapLoaded: maps.map_loaded,
    f.FormatSet: formats.format_set,
    f.ClockSet: clock_set,
    f.WarmupStarted: maps.warmup_started,
    f.WarmupEnded: maps.warmup_ended,
    f.PlayStarted: maps.play_started,
    f.RestartAnnounced: maps.restart_announced,
    f.RestoreAnnounced: maps.restore_announced,
    f.SideNamed: side_named,
    f.Equipped: round_knowledge.equipped,
    f.ItemLost: round_knowledge.item_lost,
    f.MoneyChanged: round_knowledge.money_changed,
    f.Hurt: round_knowledge.hurt,
    f.ListBegun: list_begun,
    f.PlayerListed: player_listed,
    f.ListEnded: list_ended,
    f.SideSwitched: side_switched,
    f.PlayerLeft: presence.player_left,
    f.PlayerJoined: presence.player_joined,
    f.ItemAcquired: item_acquired,
    f.FreezeStarted: freeze_started,
    f.RoundStarted: round_started,
    f.Killed: killed,
    f.Assisted: _in_round(timeline.assisted),
    f.Died: presence.died,
    f.BombPlanted: _in_round(timeline.planted),
    f.PlantBegun: _in_round(round_knowledge.plant_begun),
    f.DefuseBegun: _in_round(timeline.defuse_begun),
    f.BombDefused: _in_round(timeline.defused),
    f.BombExploded: _in_round(timeline.exploded),
    f.RoundWon: round_won,
    f.RoundEnded: ignored,
    f.Surrendered: maps.surrendered,
    f.EndOverdue: maps.end_overdue,
    f.ScoreReported: score_reported,
    f.Paused: paused,
    f.Resumed: resumed,
    f.MapEnded: map_ended,
    f.DataLost: data_lost,
    f.LineNotUnderstood: round_totals.line_not_understood,
    f.DataComplete: _clearing(MISSING_DATA, RESTORED),
    f.SilenceEnded: _clearing(SILENT),
    f.SourceChanged: maps.source_changed,
    f.RivalSeen: rival_seen,
    f.RivalsGone: _clearing("rival"),
}
