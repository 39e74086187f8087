"""Which map and which rounds of a match may be offered now."""

from app.domain.match import CurrentRound
from app.trading.match_facts import MatchFacts, RoundKey

#: How many maps after the one on offer are on offer, too.
_MAPS_AHEAD = 2


def map_on_offer(facts: MatchFacts) -> int | None:
    """The map on offer: the one being played, else the next that is certain to be played."""
    if facts.over:
        return None
    match = facts.match
    if match.map:
        return facts.live.number if facts.live else None
    following = sum(play.status == "finished" for play in match.maps) + 1
    decided = max(match.score_home, match.score_away) > match.best_of // 2
    return None if decided or following > match.best_of else following


def maps_to_come(facts: MatchFacts) -> range:
    """The next maps after the one on offer. One that is not played in the end voids its markets."""
    number = map_on_offer(facts)
    return range(number + 1, min(facts.match.best_of, number + _MAPS_AHEAD) + 1) if number else range(0)


def round_in_progress(facts: MatchFacts) -> CurrentRound | None:
    """The round that is in its freeze or being played; None once it is won."""
    current, play = facts.match.current, facts.live
    if current is None or play is None or current.map != play.number:
        return None
    return (
        None
        if current.phase == "over" or current.won or (current.map, current.number) in facts.rounds
        else current
    )


def is_live(facts: MatchFacts) -> bool:
    """Whether a round is being played, its freeze over: clock and fuse may change prices."""
    current = round_in_progress(facts)
    return current is not None and current.phase == "live"


def round_in_freeze(facts: MatchFacts) -> RoundKey | None:
    """The round in its freeze: nothing of it has happened yet."""
    current = round_in_progress(facts)
    return (current.map, current.number) if current and current.phase == "freeze" else None


def round_on_offer(facts: MatchFacts) -> RoundKey | None:
    """The round in its freeze or being played, while its result is open: both teams have players
    left, and it may not turn out to be a knife round."""
    current = round_in_progress(facts)
    if current is None:
        return None
    open_result = current.alive_home and current.alive_away and not current.knife
    return (current.map, current.number) if current.phase == "freeze" or open_result else None


def next_round(facts: MatchFacts) -> RoundKey | None:
    """The round after the one in its freeze, when both its results lead to one."""
    round_key, play = round_in_freeze(facts), facts.live
    if round_key is None or play is None:
        return None
    half = play.max_rounds // 2
    return (round_key[0], round_key[1] + 1) if max(play.home_score, play.away_score) < half else None
