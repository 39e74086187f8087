"""The token in a log sink's address: proof that the service issued the address, checked without the database.

A game server cannot set headers, so the token travels in the URL: ``<match number>-<signature>``, where
the signature covers the number and the match's id. It is valid for one match's log only.
"""

import hmac
import re
from hashlib import blake2b
from uuid import UUID

from app.domain.match import Match
from app.kit.errors import Forbidden

_FORM = re.compile(r"([1-9][0-9]{0,17})-([0-9a-f]{40})\Z")
_REFUSAL = "This log token does not belong to this match: use the address that the match was created with."


def issue(secret: str, match_id: UUID, number: int) -> str:
    """The token of the match with that id and number."""
    return f"{number}-{_signature(secret, match_id, number)}"


def address(secret: str, base_url: str, match: Match) -> str:
    """Where the match's game server sends its log, on a service that answers at `base_url`."""
    token = issue(secret, match.id, match.number)
    return f"{base_url.rstrip('/')}/ops/v1/matches/{match.id}/log?token={token}"


def check(secret: str, match_id: UUID, token: str) -> int:
    """The match number that `token` carries; raises `Forbidden` unless it was issued for that match."""
    parts = _FORM.match(token)
    if parts is None:
        raise Forbidden(_REFUSAL)
    number = int(parts[1])
    if not hmac.compare_digest(parts[2], _signature(secret, match_id, number)):
        raise Forbidden(_REFUSAL)
    return number


def _signature(secret: str, match_id: UUID, number: int) -> str:
    key = blake2b(secret.encode(), digest_size=64, person=b"matchfeed log").digest()
    return blake2b(b"%s %d" % (match_id.bytes, number), digest_size=20, key=key).hexdigest()
