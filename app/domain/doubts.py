"""Why nothing may be offered: each doubt stands until the thing that raised it clears it."""

from msgspec.structs import replace

from app.domain.match import Doubt, Match

OPERATOR = "operator"  #: the kind of a doubt that an operator raised, in words of their own
UNRATED = "rating"  #: the kind of the doubt that stands while a team has no rating
SOURCE = "source"  #: the kind of a doubt that missing data raises
SILENT = "silent"  #: the kind of a doubt while no lines come, although none is known to be missing
SERVER_SILENT = "the game server is silent"  #: the reason of such a doubt
AWAY = "log processing stands still"  #: the reason of such a doubt while it is we who stand still
BY_OPERATOR = "suspended by an operator"


def raise_doubt(match: Match, kind: str, reason: str) -> Match:
    """The match with this doubt standing; another reason of the same kind takes its place."""
    doubt = Doubt(kind, reason)
    if doubt in match.doubts:
        return match
    return _with(match, (*(other for other in match.doubts if other.kind != kind), doubt))


def clear_doubt(match: Match, *kinds: str) -> Match:
    if not any(doubt.kind in kinds for doubt in match.doubts):
        return match
    return _with(match, tuple(doubt for doubt in match.doubts if doubt.kind not in kinds))


def retain_doubts(match: Match, *kinds: str) -> Match:
    """Only doubts of these kinds stand on: the match is over, the others mean nothing any more."""
    return clear_doubt(match, *(doubt.kind for doubt in match.doubts if doubt.kind not in kinds))


def log_is_doubted(match: Match) -> bool:
    """A doubt stands that the log raised, and that its next lines may clear."""
    return any(doubt.kind not in (OPERATOR, UNRATED) for doubt in match.doubts)


def _with(match: Match, doubts: tuple[Doubt, ...]) -> Match:
    return replace(match, doubts=doubts, suspended=doubts[0].reason if doubts else "")


def public_reason(match: Match) -> str:
    """Why the match is suspended, in words for everybody: what an operator wrote is for operators."""
    if match.doubts and match.doubts[0].kind == OPERATOR:
        return BY_OPERATOR
    return match.suspended
