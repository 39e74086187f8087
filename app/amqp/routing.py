"""Routing keys: eight sections, `priority.pre.live.message.sport.urn.id.node`.

A match's number and a node's id may also be a placeholder, as in the AsyncAPI document.
"""

from app.domain.ids import SPORT

MATCH_MESSAGES = frozenset(
    {
        "odds_change",
        "bet_settlement",
        "bet_cancel",
        "rollback_bet_settlement",
        "rollback_bet_cancel",
        "fixture_change",
    }
)
#: Live messages that a durable queue does not write to disk: a recovery replays the present odds, and the
#: tenant is notified of a broker's restart.
TRANSIENT = frozenset({"odds_change"})
ALIVE = "-.-.-.alive.-.-.-.-"
#: The possible values of each section of a live message's key; None: any.
LIVE_SECTIONS = (
    *(frozenset({section}) for section in ("hi", "-", "live")),
    MATCH_MESSAGES,
    *(frozenset({section}) for section in (str(SPORT), "od:match")),
    None,
    frozenset({"-"}),
)


def live(message: str, number: int | str) -> str:
    """The key of a live message about match `number`; raises `ValueError` if it is not about a match."""
    if message not in MATCH_MESSAGES:
        raise ValueError(f"{message!r} is not a message about a match")
    return f"hi.-.live.{message}.{SPORT}.od:match.{number}.-"


def replayed(message: str, number: int | str, node_id: str | None) -> str:
    """The key of a replayed message about match `number`; raises `ValueError` like `live`."""
    if message not in MATCH_MESSAGES:
        raise ValueError(f"{message!r} is not a message about a match")
    return f"lo.-.live.{message}.{SPORT}.od:match.{number}.{node_id or '-'}"


def snapshot_complete(node_id: str | None) -> str:
    """The key of the end of a recovery."""
    return f"-.-.-.snapshot_complete.-.-.-.{node_id or '-'}"
