"""Routing keys: eight sections, `priority.pre.live.message.sport.urn.id.node`."""

from app.domain.ids import SPORT

EVENT_MESSAGES = frozenset(
    {
        "odds_change",
        "bet_settlement",
        "bet_cancel",
        "rollback_bet_settlement",
        "rollback_bet_cancel",
        "fixture_change",
    }
)
ALIVE = "-.-.-.alive.-.-.-.-"


def live(message: str, number: int) -> str:
    """The key of a live message about match `number`; raises `ValueError` for what is not about a match."""
    if message not in EVENT_MESSAGES:
        raise ValueError(f"{message!r} is not a message about a match")
    return f"hi.-.live.{message}.{SPORT}.od:match.{number}.-"
