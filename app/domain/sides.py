"""Which team plays which side: from team lines, scores and the players themselves, never by guess.

Right after a half the server still names the old sides for a whole round, while its score and its
players have already swapped. So `side_before_break` is remembered at every round after which sides
may change, and until the next round is won the team lines that repeat it are not believed.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.match import MapPlay, Match, Player, RosterEntry, Side, Slot, other_side

Sighting = tuple[Player, Side]


def update_map(match: Match, play: MapPlay) -> Match:
    """The match with its map of the same number replaced."""
    return replace(match, maps=tuple(play if old.number == play.number else old for old in match.maps))


def set_home_side(match: Match, side: Side | None) -> Match:
    play = match.map
    if play is None or play.home_side == side:
        return match
    match = update_map(match, replace(play, home_side=side))
    return match if side is None else clear_doubt(match, "sides")


def slot_on(play: MapPlay, side: Side) -> Slot | None:
    """The team on `side` now, or None while nobody knows."""
    if play.home_side is None:
        return None
    return "home" if play.home_side == side else "away"


def slot_of(match: Match, player: Player, side: Side) -> Slot | None:
    play = match.map
    return (slot_on(play, side) if play else None) or seat(match, player)


def seat(match: Match, player: Player) -> Slot | None:
    if not player.account:
        return None
    return next((known.slot for known in match.roster if known.account == player.account), None)


def is_break(play: MapPlay) -> bool:
    """Whether sides may change after the rounds played so far."""
    played, half, step = play.rounds_won, play.max_rounds // 2, play.overtime_rounds // 2
    if played < play.max_rounds:
        return bool(played) and played == half
    return bool(step) and (played - play.max_rounds) % step == 0


def name_side(match: Match, side: Side, team: str) -> Match:
    """Take in a team line: which of our two teams is on which side."""
    if not team:
        return match
    match = replace(match, team_ct=team) if side == "CT" else replace(match, team_t=team)
    slot = _known_team(match, team)
    if slot is None:
        return _unmatched(match, side)
    match = clear_doubt(match, "teams")
    return _believe_line(match, side if slot == "home" else other_side(side))


def use_named_side(match: Match) -> Match:
    """Take what an operator said about the map that begins, once."""
    if match.named_side is None:
        return match
    return replace(set_home_side(match, match.named_side), named_side=None)


def _known_team(match: Match, team: str) -> Slot | None:
    name, home, away = (" ".join(text.casefold().split()) for text in (team, match.home, match.away))
    if home == away or name not in (home, away):
        return None
    return "home" if name == home else "away"


def _unmatched(match: Match, side: Side) -> Match:
    """One unknown name is the other team if the name opposite is known; two are a doubt."""
    opposite = match.team_t if side == "CT" else match.team_ct
    if not opposite:
        return match
    slot = _known_team(match, opposite)
    if slot is None:
        return raise_doubt(match, "teams", f"unknown teams: {match.team_ct}, {match.team_t}")
    return _believe_line(clear_doubt(match, "teams"), side if slot == "away" else other_side(side))


def _believe_line(match: Match, home_side: Side) -> Match:
    play, current = match.map, match.current
    if play is None or current is None or play.side_before_break is None or current.won is not None:
        return set_home_side(match, home_side)
    told_new = current.phase != "over" and home_side != play.side_before_break
    return set_home_side(match, home_side) if told_new and play.home_side is None else match


def infer_sides_from_score(match: Match, ct_score: int, t_score: int) -> Match:
    """While the sides are open, an uneven score that equals ours one way round shows them."""
    play = match.map
    if play is None or play.home_side is not None or ct_score == t_score:
        return match
    if (ct_score, t_score) == (play.home_score, play.away_score):
        return set_home_side(match, "CT")
    if (t_score, ct_score) == (play.home_score, play.away_score):
        return set_home_side(match, "T")
    return match


def witness(match: Match, sightings: Iterable[Sighting]) -> Match:
    """Take in players seen on a side in play: known ones show the sides, new ones get a seat."""
    match = infer_sides_from_players(match, sightings)
    play, current = match.map, match.current
    if play is None or current is None or play.home_side is None or current.phase != "live":
        return match
    for player, side in sightings:
        slot = slot_on(play, side)
        if player.account and slot and seat(match, player) is None:
            match = replace(match, roster=(*match.roster, RosterEntry(player.account, slot)))
    return match


def infer_sides_from_players(match: Match, sightings: Iterable[Sighting]) -> Match:
    """One known player shows sides that are open; it takes one of each team to overrule known ones."""
    play = match.map
    if play is None:
        return match
    votes = {slot: _home_side(slot, side) for player, side in sightings if (slot := seat(match, player))}
    if len(set(votes.values())) != 1:
        return match
    enough = 1 if play.home_side is None else 2
    return set_home_side(match, next(iter(votes.values()))) if len(votes) >= enough else match


def switch(match: Match, player: Player, side: Side) -> Match:
    """A known player was moved; it counts in a break only, where everybody is."""
    play, slot = match.map, seat(match, player)
    if play is None or slot is None or play.side_before_break is None:
        return match
    return set_home_side(match, _home_side(slot, side))


def _home_side(slot: Slot, side: Side) -> Side:
    return side if slot == "home" else other_side(side)


def open_sides_after_break(match: Match) -> Match:
    """At the freeze after a possible change of sides: open, unless the players have shown it."""
    play = match.map
    if play is None or play.side_before_break is None or play.home_side != play.side_before_break:
        return match
    return set_home_side(match, None)
