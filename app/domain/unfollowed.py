"""Rounds that are played in the log and cannot be counted: after two of them somebody must look.

One alone is nothing unusual: a knife round, or the round in which a source was attached.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.doubts import AWAY, clear_doubt, raise_doubt
from app.domain.match import Match

UNFOLLOWED = "unfollowed"  #: the kind of doubt that is raised
ENOUGH = 2


def count_unfollowed_round(before: Match, match: Match, fact: f.Fact) -> Match:
    """`match`, which `fact` made of `before`, with its count of rounds in a row that were won uncounted."""
    if match.over or _standing(match) != _standing(before):
        return reset_unfollowed_rounds(match)
    if not isinstance(fact, f.RoundWon) or match.warmup or _repeated(match, fact) or _away(match):
        return match
    match = replace(match, unfollowed=match.unfollowed + 1)
    return _doubted(match) if match.unfollowed >= ENOUGH else match


def reset_unfollowed_rounds(match: Match) -> Match:
    """Why rounds could not be counted is no more: they are counted anew."""
    return clear_doubt(replace(match, unfollowed=0), UNFOLLOWED) if match.unfollowed else match


def _standing(match: Match) -> tuple[tuple[int, int, bool], ...]:
    return tuple((play.home_score, play.away_score, play.status == "finished") for play in match.maps)


def _repeated(match: Match, fact: f.RoundWon) -> bool:
    """Whether the line tells a score that is counted already: the server's, told twice, or from before a
    backup that is being restored."""
    return match.map is not None and 0 < fact.ct_score + fact.t_score <= match.map.rounds_won


def _away(match: Match) -> bool:
    """Whether it is our own processing that stood still: what its rounds were shows when it has caught up."""
    return any(doubt.reason == AWAY for doubt in match.doubts)


def _doubted(match: Match) -> Match:
    others = [doubt.reason for doubt in match.doubts if doubt.kind != UNFOLLOWED]
    why = others[0] if others else _why(match)
    return raise_doubt(match, UNFOLLOWED, f"rounds are played that cannot be counted: {why}")


def _why(match: Match) -> str:
    if match.map is None:
        return f"{match.loaded} has been played already" if match.loaded else "no map has begun"
    if match.loaded not in ("", match.map.name):
        return f"the server plays {match.loaded}, not {match.map.name}"
    return "it is not clear which round they are"
