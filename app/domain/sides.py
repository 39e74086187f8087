"""Which team plays which side: inferred from team lines, scores and players, never guessed.

Right after a half the server still names the old sides for a whole round, while its score and its
players have already swapped. So `side_before_break` is set at every round after which sides
may change, and until the next round is won team lines that repeat it are ignored.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from app.domain.doubts import clear_doubt, log_is_doubted, raise_doubt
from app.domain.match import (
    MapPlay,
    Match,
    MatchPlayer,
    RosterEntry,
    Side,
    Team,
    TimelineEvent,
    other_side,
)

PlayerOnSide = tuple[MatchPlayer, Side]


def update_map(match: Match, play: MapPlay) -> Match:
    """The match with its map of the same number replaced."""
    return replace(match, maps=tuple(play if old.number == play.number else old for old in match.maps))


def set_home_side(match: Match, side: Side | None) -> Match:
    play = match.map
    if play is None or play.home_side == side:
        return match
    match = update_map(match, replace(play, home_side=side))
    if side is None:
        return match
    match = clear_doubt(match, "sides")
    return match if play.home_side else _with_teams_of_round(match)


def _with_teams_of_round(match: Match) -> Match:
    """The round in play, or whose result waits for the sides, with the teams of its events, now that sides
    are known: nobody changes sides within a round."""
    current = match.current
    if current is None or not (current.phase == "live" or current.pending_result is not None):
        return match
    events, withheld = (
        tuple(_with_teams(match, event) for event in some) for some in (current.events, current.withheld)
    )
    if (events, withheld) == (current.events, current.withheld):
        return match
    before, after = current.events + current.withheld, events + withheld
    current = replace(
        current,
        events=events,
        withheld=withheld,
        alive_home=max(0, current.alive_home + _deaths(before, "home") - _deaths(after, "home")),
        alive_away=max(0, current.alive_away + _deaths(before, "away") - _deaths(after, "away")),
    )
    return replace(match, current=current)


def _with_teams(match: Match, event: TimelineEvent) -> TimelineEvent:
    actor = team_of(match, event.actor, event.side) if event.actor and event.side else event.actor_team
    target = (
        team_of(match, event.target, event.target_side)
        if event.target and event.target_side
        else event.target_team
    )
    if (actor, target) == (event.actor_team, event.target_team):
        return event
    return replace(event, actor_team=actor, target_team=target)


def _deaths(events: Iterable[TimelineEvent], team: Team) -> int:
    return sum(event.type == "kill" and event.target_team == team for event in events)


def team_on(play: MapPlay, side: Side) -> Team | None:
    """The team on `side` now, or None while it is unknown."""
    if play.home_side is None:
        return None
    return "home" if play.home_side == side else "away"


def scores_by_team(play: MapPlay, ct_score: int, t_score: int) -> tuple[int, int]:
    """Home's and away's score of a score by side; home counts as CT while sides are unknown."""
    return (t_score, ct_score) if play.home_side == "T" else (ct_score, t_score)


def team_of(match: Match, player: MatchPlayer, side: Side) -> Team | None:
    play = match.map
    return (team_on(play, side) if play else None) or team_of_player(match, player)


def team_of_player(match: Match, player: MatchPlayer) -> Team | None:
    if not player.account:
        return None
    return next((known.team for known in match.roster if known.account == player.account), None)


def is_side_break(play: MapPlay) -> bool:
    """Whether sides may change after the rounds played so far."""
    played, half, step = play.rounds_won, play.max_rounds // 2, play.overtime_rounds // 2
    if played < play.max_rounds:
        return bool(played) and played == half
    return bool(step) and (played - play.max_rounds) % step == 0


def apply_team_line(match: Match, side: Side, name: str) -> Match:
    """Apply a team line: the team of this name plays `side`."""
    if not name:
        return match
    match = replace(match, team_ct=name) if side == "CT" else replace(match, team_t=name)
    team = _known_team(match, name)
    if team is None:
        return _apply_unknown_team(match, side)
    match = clear_doubt(match, "teams")
    return _set_side_from_line(match, side if team == "home" else other_side(side))


def apply_team_lines(match: Match) -> Match:
    """Apply the last team line of each side again, after a change of the map or of a team's name."""
    return apply_team_line(apply_team_line(match, "CT", match.team_ct), "T", match.team_t)


def apply_named_side(match: Match) -> Match:
    """Apply the side that an operator set for the map that begins, once."""
    if match.named_side is None:
        return match
    return replace(set_home_side(match, match.named_side), named_side=None)


def _known_team(match: Match, written: str) -> Team | None:
    name, home, away = (" ".join(text.casefold().split()) for text in (written, match.home, match.away))
    if home == away or name not in (home, away):
        return None
    return "home" if name == home else "away"


def _apply_unknown_team(match: Match, side: Side) -> Match:
    """One unknown name is the other team if the opposite name is known; two raise a doubt."""
    opposite = match.team_t if side == "CT" else match.team_ct
    if not opposite:
        return match
    team = _known_team(match, opposite)
    if team is None:
        return raise_doubt(match, "teams", f"unknown teams: {match.team_ct}, {match.team_t}")
    return _set_side_from_line(clear_doubt(match, "teams"), side if team == "away" else other_side(side))


def _set_side_from_line(match: Match, home_side: Side) -> Match:
    play, current = match.map, match.current
    if (
        play is None
        or current is None
        or play.side_before_break is None
        or current.pending_result is not None
    ):
        return set_home_side(match, home_side)
    new_sides = current.phase != "over" and home_side != play.side_before_break
    return set_home_side(match, home_side) if new_sides and play.home_side is None else match


def infer_sides_from_score(match: Match, ct_score: int, t_score: int) -> Match:
    """While sides are unknown, an uneven score that equals ours in one order shows them."""
    play = match.map
    if play is None or play.home_side is not None or ct_score == t_score:
        return match
    if (ct_score, t_score) == (play.home_score, play.away_score):
        return set_home_side(match, "CT")
    if (t_score, ct_score) == (play.home_score, play.away_score):
        return set_home_side(match, "T")
    return match


def apply_seen_players(match: Match, seen: Iterable[PlayerOnSide]) -> Match:
    """Apply players seen on a side in play: known ones show the sides, new ones join the roster, unless the
    log is doubted: sides may be wrong then."""
    match = infer_sides_from_players(match, seen)
    play, current = match.map, match.current
    if play is None or current is None or play.home_side is None or current.phase != "live":
        return match
    if log_is_doubted(match):
        return match
    for player, side in seen:
        team = team_on(play, side)
        if player.account and team and team_of_player(match, player) is None:
            match = replace(match, roster=(*match.roster, RosterEntry(player.account, team)))
    return match


def infer_sides_from_players(match: Match, seen: Iterable[PlayerOnSide]) -> Match:
    """One known player shows unknown sides; to overrule known sides one of each team is needed."""
    play = match.map
    if play is None:
        return match
    votes = {team: _home_side(team, side) for player, side in seen if (team := team_of_player(match, player))}
    if len(set(votes.values())) != 1:
        return match
    enough = 1 if play.home_side is None else 2
    return set_home_side(match, next(iter(votes.values()))) if len(votes) >= enough else match


def switch_player(match: Match, player: MatchPlayer, side: Side) -> Match:
    """A known player was moved to the other side; that counts only in a break, where all players are."""
    play, team = match.map, team_of_player(match, player)
    if play is None or team is None or play.side_before_break is None:
        return match
    return set_home_side(match, _home_side(team, side))


def _home_side(team: Team, side: Side) -> Side:
    return side if team == "home" else other_side(side)


def clear_sides_after_break(match: Match) -> Match:
    """At the freeze after a possible change of sides they are unknown, unless players have shown them."""
    play = match.map
    if play is None or play.side_before_break is None or play.home_side != play.side_before_break:
        return match
    return set_home_side(match, None)
