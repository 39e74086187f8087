"""Doubts: reasons why a match is suspended. Each remains until its cause clears it."""

from msgspec.structs import replace

from app.domain.facts import Fact, RoundWon
from app.domain.match import Doubt, Match

OPERATOR = "operator"  #: the kind of a doubt that an operator raised; its reason is their text
PRICE = "price"  #: the kind of the doubt while a price has moved without a cause
REFERENCES = "references"  #: the kind of the doubt since our price and reference prices differ too far
UNRATED = "rating"  #: the kind of the doubt while a team has no strength
MISSING_DATA = "source"  #: the kind of a doubt that missing data raises
LOG_GAP = "a part of the game server's log is missing"  #: the reason of such a doubt
#: the reason of a doubt of the score while a map's round has begun, and neither its beginning nor a score was
#: seen: the log may have been attached within the map
NO_BEGINNING = "the beginning of the map is missing, its score is awaited"
UNREAD = "unread"  #: the kind of the doubt while a round has a line that was not understood
UNREAD_LINE = "a line of the log about play was not understood"  #: its reason
STATISTICS = "statistics"  #: the kind of the doubt for a round after one whose events they contradict
SILENT = "silent"  #: the kind of a doubt while no lines come, although none is known to be missing
SERVER_SILENT = "the game server is silent"  #: the reason of such a doubt
#: its reason while our own log processing has stopped
PROCESSING_STOPPED = "log processing stands still"
#: the kind since the database was restored, or may have lost commits, until the log is followed again
RESTORED = "restored"
DATABASE_RESTORED = "the database was restored from a backup"  #: a reason of such a doubt
DATABASE_FAILED_OVER = "the database failed over and may have lost what came last"  #: the other one
ENDED = "ended"  #: the kind since a map that had ended was played on
BY_OPERATOR = "suspended by an operator"
UNCOUNTED_ROUNDS = "uncounted"  #: the kind while rounds are played in the log that cannot be counted
#: How many rounds in a row cannot be counted before `UNCOUNTED_ROUNDS` is raised. One is common: a knife
#: round, or the round during which a source was attached.
UNCOUNTED_ROUNDS_LIMIT = 2


def raise_doubt(match: Match, kind: str, reason: str) -> Match:
    """Add the doubt; it replaces one of the same kind."""
    doubt = Doubt(kind, reason)
    if doubt in match.doubts:
        return match
    return _replace_doubts(match, (*(other for other in match.doubts if other.kind != kind), doubt))


def clear_doubt(match: Match, *kinds: str) -> Match:
    if not any(doubt.kind in kinds for doubt in match.doubts):
        return match
    return _replace_doubts(match, tuple(doubt for doubt in match.doubts if doubt.kind not in kinds))


def retain_doubts(match: Match, *kinds: str) -> Match:
    """Clear all doubts but those of these kinds: the match is over, the others no longer apply."""
    return clear_doubt(match, *(doubt.kind for doubt in match.doubts if doubt.kind not in kinds))


def log_is_doubted(match: Match) -> bool:
    """Whether the match has a doubt that the log raised and that its next lines may clear."""
    return any(doubt.kind not in (OPERATOR, UNRATED, PRICE, REFERENCES) for doubt in match.doubts)


def _replace_doubts(match: Match, doubts: tuple[Doubt, ...]) -> Match:
    return replace(match, doubts=doubts, suspended=doubts[0].reason if doubts else "")


def public_reason(match: Match) -> str:
    """Why the match is suspended, for clients: an operator's own text, and what other bookmakers offer, are
    replaced."""
    if match.doubts and match.doubts[0].kind in (OPERATOR, REFERENCES):
        return BY_OPERATOR
    return match.suspended


def count_uncounted_round(before: Match, match: Match, fact: Fact) -> Match:
    """Update the number of rounds won in a row and not counted. `match` is `before` after `fact`."""
    if match.over or _scores(match) != _scores(before):
        return reset_uncounted_rounds(match)
    if not isinstance(fact, RoundWon) or match.warmup:
        return match
    if _is_counted(match, fact) or _processing_stopped(match):
        return match
    match = replace(match, uncounted_rounds=match.uncounted_rounds + 1)
    return _raise_uncounted(match) if match.uncounted_rounds >= UNCOUNTED_ROUNDS_LIMIT else match


def reset_uncounted_rounds(match: Match) -> Match:
    """The cause is gone: start counting from 0."""
    return (
        clear_doubt(replace(match, uncounted_rounds=0), UNCOUNTED_ROUNDS) if match.uncounted_rounds else match
    )


def _scores(match: Match) -> tuple[tuple[int, int, bool], ...]:
    return tuple((play.home_score, play.away_score, play.status == "finished") for play in match.maps)


def _is_counted(match: Match, fact: RoundWon) -> bool:
    """Whether the line's score is counted already: a repeated line, or one from before a backup that is
    being restored."""
    return match.map is not None and 0 < fact.ct_score + fact.t_score <= match.map.rounds_won


def _processing_stopped(match: Match) -> bool:
    """Whether our own log processing has stopped: its rounds are judged when it has caught up."""
    return any(doubt.reason == PROCESSING_STOPPED for doubt in match.doubts)


def _raise_uncounted(match: Match) -> Match:
    others = [doubt.reason for doubt in match.doubts if doubt.kind != UNCOUNTED_ROUNDS]
    why = others[0] if others else _uncounted_reason(match)
    return raise_doubt(match, UNCOUNTED_ROUNDS, f"rounds are played that cannot be counted: {why}")


def _uncounted_reason(match: Match) -> str:
    if match.map is None:
        return f"{match.loaded} has been played already" if match.loaded else "no map has begun"
    if match.loaded not in ("", match.map.name):
        return f"the server plays {match.loaded}, not {match.map.name}"
    return "it is not clear which round they are"
