"""The signed ledger as JSON. Hashes, salts, keys and signatures are lower-case hexadecimal digits."""

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.ledger_tree import Signature, SignedHead


class HeadView(msgspec.Struct, frozen=True, kw_only=True):
    """A signed head. `head` is the text whose UTF-8 bytes were signed (JSON), `hash` their SHA-256."""

    number: int
    head: str
    hash: str
    signatures: tuple[Signature, ...]


class LeafView(msgspec.Struct, frozen=True, kw_only=True):
    """A leaf of a day's tree, at its `index` from 0. `leaf` is the text whose UTF-8 bytes are hashed (JSON);
    it is absent where the entry is not yours to see, or its match was deleted. `price_salt` is there where
    you received every price of the market's history with standard odds."""

    day: str
    index: int
    hash: str
    leaf: str | UnsetType = UNSET
    price_salt: str | UnsetType = UNSET


class LedgerKeyView(msgspec.Struct, frozen=True, kw_only=True):
    """A public key (Ed25519, 32 bytes) that signs heads, or did until `retired_at`. Times in Unix ms."""

    key_id: str
    public_key: str
    created_at: int
    retired_at: int | None


class InclusionProofView(msgspec.Struct, frozen=True, kw_only=True):
    """That the leaf at `index` is in the tree of the first `size` leaves of the day: the nodes of `path` lead
    from `leaf_hash` to `root` (RFC 9162, 2.1.3)."""

    day: str
    index: int
    size: int
    leaf_hash: str
    root: str
    path: tuple[str, ...]


class ConsistencyProofView(msgspec.Struct, frozen=True, kw_only=True):
    """That the tree of the first `first` leaves of the day is the beginning of that of the first `second`
    (RFC 9162, 2.1.4)."""

    day: str
    first: int
    second: int
    first_root: str
    second_root: str
    path: tuple[str, ...]


def head_view(signed: SignedHead) -> HeadView:
    return HeadView(
        number=signed.head.number,
        head=signed.body.decode(),
        hash=signed.hash.hex(),
        signatures=signed.signatures,
    )
