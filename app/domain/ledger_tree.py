"""The signed ledger, pure: the bytes of leaves and heads, and Merkle trees as RFC 9162 defines them.

    leaf hash    SHA-256(0x00 ‖ the leaf's bytes)
    node         SHA-256(0x01 ‖ left ‖ right)
    no leaves    SHA-256 of nothing

The leaves of a UTC day, in the order of the settlement ledger, are a tree; a head says what its root was at a
size. `docs/ledger.md` is the contract: bytes that were signed can be made again for as long as the ledger is
stored, so a field may only be added together with a new `version`.
"""

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from hashlib import sha256
from uuid import UUID

import msgspec

from app.domain.ids import match_urn
from app.domain.market import Result, market_name
from app.domain.settlement import LedgerEntry, LedgerMessage, LedgerStatus, SettledBy

VERSION = 1
NO_HASH = bytes(32)  #: what comes before the first leaf, and before the first head
_encode = msgspec.json.Encoder().encode


class HeadKind(StrEnum):
    """Why a head was signed."""

    HOUR = "hour"  #: an hour has begun
    DAY = "day"  #: the day is over: the last head of its tree
    ROTATION = "rotation"  #: another key signs from now on; both sign this head
    NEW_KEY = "new_key"  #: the same, but the old key is lost, and has not signed
    #: the database was restored or failed over: later heads than the one before may have been published
    RESTORED = "restored"


class LeafPrices(msgspec.Struct, frozen=True):
    """The market's price history before the entry: how many rows of the change log, the seq of the first one
    (0 without any), and the digest (`price_digest`) in hexadecimal digits."""

    count: int
    first_seq: int
    digest: str


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """What a leaf's bytes say, in this order: its place, the hash of the leaf before it, what makes the hash
    unguessable, and the ledger entry with the names that REST and the feed have for it. `timestamp` and the
    void window in Unix ms."""

    version: int = VERSION
    day: str
    index: int
    previous: str
    salt: str
    id: int
    match_id: str
    match_urn: str
    market_offer_id: str
    market_id: int
    specifiers: str
    message: LedgerMessage
    timestamp: int
    previous_status: LedgerStatus
    new_status: LedgerStatus
    outcome: Result | None
    settled_by: SettledBy
    reason: str
    is_resettlement: bool
    void_reason_id: int | None
    void_from: int | None
    void_until: int | None
    rests_on: tuple[int, ...]
    prices: LeafPrices


class StoredLeaf(msgspec.Struct, frozen=True):
    """What is stored of a leaf beside its ledger entry, whose id it has. `index` is its place in the tree of
    its `day` (ISO). `salt` is in its bytes, `price_salt` in the digest of its prices alone."""

    entry_id: int
    day: str
    index: int
    hash: bytes
    salt: bytes
    price_salt: bytes
    price_count: int
    price_first_seq: int
    price_digest: bytes


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a head's bytes say, in this order. Heads are numbered from 1. `size` and `root` are those of the
    day's tree at `time` (Unix ms); every entry of the settlement ledger with an id up to `through` is in this
    tree or in that of an earlier day. `previous` is the hash of the head before. `key_id` signs; `next_key`
    is the public key that signs later heads, null but for a change of keys."""

    version: int = VERSION
    number: int
    kind: HeadKind
    day: str
    size: int
    root: str
    through: int
    time: int
    previous: str
    key_id: str
    next_key: str | None = None


class Signature(msgspec.Struct, frozen=True):
    """An Ed25519 signature of a head's bytes, in hexadecimal digits, and whose it is."""

    key_id: str
    signature: str


class SignedHead(msgspec.Struct, frozen=True):
    """A head as it is stored: its exact bytes, with the signatures of these."""

    body: bytes
    signatures: tuple[Signature, ...]

    @property
    def head(self) -> Head:
        return _decode_head(self.body)

    @property
    def hash(self) -> bytes:
        return sha256(self.body).digest()


_decode_head = msgspec.json.Decoder(Head).decode


def head_bytes(head: Head) -> bytes:
    """What is signed."""
    return _encode(head)


def leaf_bytes(
    stored: StoredLeaf, previous: bytes, match_id: UUID, match_number: int, entry: LedgerEntry
) -> bytes:
    """The bytes of the leaf of an entry; `previous` is the hash of the leaf before it. `hash` of what is
    stored is not read."""
    window = entry.void_window
    return _encode(
        Leaf(
            day=stored.day,
            index=stored.index,
            previous=previous.hex(),
            salt=stored.salt.hex(),
            id=entry.id,
            match_id=str(match_id),
            match_urn=match_urn(match_number),
            market_offer_id=market_name(*entry.key),
            market_id=entry.type_id,
            specifiers=entry.specifiers,
            message=entry.message,
            timestamp=entry.at,
            previous_status=entry.previous_status,
            new_status=entry.new_status,
            outcome=entry.result,
            settled_by=entry.settled_by,
            reason=entry.reason,
            is_resettlement=entry.is_resettlement,
            void_reason_id=entry.void_reason_id,
            void_from=window.start_time if window else None,
            void_until=window.end_time if window else None,
            rests_on=entry.rests_on,
            prices=LeafPrices(stored.price_count, stored.price_first_seq, stored.price_digest.hex()),
        )
    )


def price_digest(price_salt: bytes, lines: bytes) -> bytes:
    """The digest of a price history, of which `lines` has one line for each row."""
    return sha256(price_salt + sha256(lines).digest()).digest()


def leaf_hash(leaf: bytes) -> bytes:
    return sha256(b"\x00" + leaf).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def day_after(day: str) -> str:
    """The next day."""
    return date.fromordinal(date.fromisoformat(day).toordinal() + 1).isoformat()


def _levels(hashes: Sequence[bytes]) -> list[list[bytes]]:
    """The nodes of the tree, level by level up to its root. A node without a neighbour moves up unchanged,
    which gives the tree of RFC 9162."""
    levels = [list(hashes)]
    while len(levels[-1]) > 1:
        below = levels[-1]
        above = [_node(below[at], below[at + 1]) for at in range(0, len(below) - 1, 2)]
        levels.append(above + below[len(below) & ~1 :])
    return levels


def root(hashes: Sequence[bytes]) -> bytes:
    """The root of the tree with these leaf hashes."""
    return _levels(hashes)[-1][0] if hashes else sha256(b"").digest()


def inclusion_path(hashes: Sequence[bytes], index: int) -> list[bytes]:
    """The nodes that lead from the leaf at `index` to the root (RFC 9162, 2.1.3.1)."""
    path = []
    for level in _levels(hashes)[:-1]:
        neighbour = index ^ 1
        if neighbour < len(level):
            path.append(level[neighbour])
        index >>= 1
    return path


def consistency_path(hashes: Sequence[bytes], first: int) -> list[bytes]:
    """The nodes by which the tree of the first `first` leaves is shown to be the beginning of this one (RFC
    9162, 2.1.4.1); none for all leaves, or for none."""
    if not 0 < first < len(hashes):
        return []
    return _subproof(hashes, first, whole=True)


def _subproof(hashes: Sequence[bytes], first: int, *, whole: bool) -> list[bytes]:
    if first == len(hashes):
        return [] if whole else [root(hashes)]
    half = 1 << (len(hashes) - 1).bit_length() - 1
    if first <= half:
        return [*_subproof(hashes[:half], first, whole=whole), root(hashes[half:])]
    return [*_subproof(hashes[half:], first - half, whole=False), root(hashes[:half])]
