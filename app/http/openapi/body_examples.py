"""An example of every request body, by the name of its type."""

from typing import Any

EXAMPLES: dict[str, Any] = {
    "Booking": {"booked": False},
    "Consent": {"decision": "consent", "fingerprint": "8e41e8490e304f58"},
    "Digest": {
        "matches": [
            {
                "match": "od:match:1",
                "markets": [[1, "team=home", 1, 1.93], [13, "map=1|round=3|team=home", -1]],
                "seq": 48_223,
            }
        ],
        "complete": True,
    },
    "KeyChange": {"rate_limit_rpm": 1200, "networks": ["203.0.113.0/24"]},
    "NewKey": {
        "bundles": ["cs2.odds.basic", "cs2.odds.scoreboard-addon"],
        "sports": ["cs2", "soccer"],
        "label": "trading desk",
        "request_id": "acme-2031-1",
    },
    "NewMatchBody": {
        "team_a": "Copper Herons",
        "team_b": "Night Ferry",
        "event": "Norland Masters",
        "bo_type": "bo3",
        "scheduled_at": "2031-04-02T18:00:00+00:00",
        "request_id": "norland-final",
    },
    "NewTenant": {"slug": "acme", "name": "Acme"},
    "Probabilities": {"probabilities": True},
    "Queues": {"max_queues": 20},
    "RatingImport": {
        "results": [
            {
                "id": "cup-17/1",
                "at": 1_767_978_000_000,
                "match": "cup-17",
                "map": "de_nuke",
                "team_a": "Copper Herons",
                "team_b": "Night Ferry",
                "score_a": 13,
                "score_b": 9,
            }
        ],
        "strengths": [{"id": "2026-01", "at": 1_767_225_600_000, "team": "Copper Herons", "strength": 1610}],
    },
    "Suspend": {"command": "suspend", "reason": "the server cannot be reached", "request_id": "shift-1"},
    "Switch": {"on": False},
    "Take": {"command": "take"},
    "Trim": {"keep_finished": 100},
}


def example_of(body_type: Any) -> Any:
    """The example for a type, or for the first member of a union that has one; None without any."""
    names = [getattr(one, "__name__", "") for one in getattr(body_type, "__args__", (body_type,))]
    return next((EXAMPLES[name] for name in names if name in EXAMPLES), None)
