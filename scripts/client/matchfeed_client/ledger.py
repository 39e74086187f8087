"""Whether a settlement is in the signed ledger (docs/ledger.md of the service). It needs the package
`cryptography` (`matchfeed-client[ledger]`).

One settlement is checked. To find out whether any other was changed or left out, save the whole ledger and
verify it (`scripts/verifier` of the service).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from matchfeed_client.rest import ClientError, Rest

_SAME = (
    *("id", "match_id", "match_urn", "market_offer_id", "market_id", "specifiers"),
    *("previous_status", "new_status", "outcome", "settled_by", "reason", "is_resettlement", "rests_on"),
    "void_reason_id",
)


@dataclass(frozen=True, slots=True)
class Proof:
    """The settlement is the leaf `index` of the `day`, below the signed head of that number."""

    day: str
    index: int
    head: int
    leaf: dict[str, Any]


async def prove(rest: Rest, settlement: Mapping[str, Any], public_key: str) -> Proof:
    """Prove that a settlement, as REST or the stream has it, is in the ledger which this public key signs
    (hexadecimal, from your portal).

    Raises `ClientError` if anything does not hold, and while no head covers the settlement: one is signed at
    the beginning of each hour.
    """
    row, leaf = await _leaf(rest, settlement)
    _require(
        [leaf.get(name) for name in _SAME] == [settlement.get(name) for name in _SAME], "says another result"
    )
    window = settlement.get("void_window") or {}
    times = [window.get("start_time"), window.get("end_time")]
    _require([leaf["void_from"], leaf["void_until"]] == times, "has another void window")
    _require(leaf["timestamp"] // 1000 == _created(settlement).timestamp(), "has another time")
    day, index = row["day"], row["index"]
    head = await _head(rest, day, index, public_key)
    proof = await rest.ledger_inclusion(day, index, head["size"])
    root = _root(sha256(b"\x00" + row["leaf"].encode()).digest(), index, head["size"], proof["path"])
    _require(root == head["root"], "is not below the signed head")
    return Proof(day, index, head["number"], leaf)


async def _leaf(rest: Rest, settlement: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settlement's row among the leaves, and what its text says. Around midnight it may be of the day
    before or after."""
    for days in (0, -1, 1):
        day = (_created(settlement) + timedelta(days)).date()
        async for row in rest.ledger_leaves(day):
            if "leaf" in row and (leaf := json.loads(row["leaf"]))["id"] == settlement["id"]:
                _require((leaf["day"], leaf["index"]) == (row["day"], row["index"]), "is at another place")
                return row, leaf
    raise ClientError(f"Settlement {settlement['id']} has no leaf in the ledger yet.")


async def _head(rest: Rest, day: str, index: int, public_key: str) -> dict[str, Any]:
    """The first head above the leaf."""
    async for row in rest.ledger_heads():
        head: dict[str, Any] = json.loads(row["head"])
        if head["day"] == day and head["size"] > index:
            _check_signature(row, public_key)
            return head
    raise ClientError("No head covers the settlement yet: one is signed at the beginning of each hour.")


def _check_signature(row: Mapping[str, Any], public_key: str) -> None:
    own = sha256(bytes.fromhex(public_key)).hexdigest()[:16]
    signatures = {each["key_id"]: each["signature"] for each in row["signatures"]}
    if own not in signatures:
        raise ClientError(f"Head {row['number']} is signed by the key {', '.join(signatures)}, not by {own}.")
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(
            bytes.fromhex(signatures[own]), row["head"].encode()
        )
    except InvalidSignature:
        raise ClientError(f"Head {row['number']} was changed: its signature is wrong.") from None


def _root(node: bytes, index: int, size: int, path: list[str]) -> str:
    """The root that the path leads to (RFC 9162, 2.1.3.2); "" for a path of another tree."""
    last = size - 1
    for each in map(bytes.fromhex, path):
        if last == 0:
            return ""
        if index & 1 or index == last:
            node = sha256(b"\x01" + each + node).digest()
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            node = sha256(b"\x01" + node + each).digest()
        index, last = index >> 1, last >> 1
    return node.hex() if last == 0 else ""


def _created(settlement: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(settlement["created_at"])


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ClientError(f"The ledger's leaf of this settlement {what}.")
