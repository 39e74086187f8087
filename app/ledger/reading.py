"""The leaves of the signed ledger as a tenant sees them, and proofs.

A tenant sees a leaf if REST shows it the entry in the settlement ledger; of every other one it sees the hash,
by which it can prove that nothing was left out. The public keys are for everybody.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET

from app.domain import scopes
from app.domain.ledger_tree import (
    StoredLeaf,
    consistency_path,
    inclusion_path,
    leaf_bytes,
    root,
)
from app.domain.tenant import Grant
from app.domain.tenant_offer import TenantOffer
from app.domain.types_off import entry_offered
from app.kit.errors import Field, Invalid, NotFound
from app.kit.heavy_work import run_in_thread
from app.store import ledger
from app.store.connections import Store
from app.store.ledger import LeafEntry, StoredKey
from app.store.transaction import Tx
from app.wire.views.ledger import ConsistencyProofView, InclusionProofView, LeafView, LedgerKeyView

_MOST = 2**31 - 1  #: above every index


class PublicKeys:
    """The public keys, oldest first. Nobody is counted who requests them, so they are read at most once in
    `seconds`, for all requests together."""

    def __init__(
        self, store: Store, seconds: float = 1.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._seconds, self._monotonic = store, seconds, monotonic
        self._lock = asyncio.Lock()
        self._views: tuple[LedgerKeyView, ...] = ()
        self._read_at = -seconds

    async def latest(self) -> tuple[LedgerKeyView, ...]:
        """Raises `Unavailable`."""
        async with self._lock:
            now = self._monotonic()
            if now - self._read_at >= self._seconds:
                async with self._store.autocommit() as tx:
                    self._views = tuple(map(_key_view, await ledger.keys(tx)))
                self._read_at = now
            return self._views


def _key_view(key: StoredKey) -> LedgerKeyView:
    return LedgerKeyView(
        key_id=key.id,
        public_key=key.public_key.hex(),
        created_at=key.created_at,
        retired_at=key.retired_at,
    )


async def leaves(tx: Tx, grant: Grant, day: str, first: int, limit: int) -> list[LeafView]:
    """At most `limit` leaves of the day from index `first` on. `tx` must be a snapshot."""
    found = await ledger.leaves(tx, day, first, min(first + limit, _MOST))
    if not found:
        return []
    entries = await ledger.entries(tx, [leaf.entry_id for leaf in found])
    previous = await ledger.last_hash(tx, found[0].entry_id)
    views = []
    for leaf in found:
        views.append(_view(grant, leaf, previous, entries.get(leaf.entry_id)))
        previous = leaf.hash
    return views


def _view(grant: Grant, leaf: StoredLeaf, previous: bytes, about: LeafEntry | None) -> LeafView:
    place: dict[str, Any] = {"day": leaf.day, "index": leaf.index, "hash": leaf.hash.hex()}
    if about is None or not _visible(grant, about):
        return LeafView(**place)
    text = leaf_bytes(leaf, previous, about.match_id, about.number, about.entry).decode()
    salt = leaf.price_salt.hex() if _prices_known(grant, leaf, about.entry.type_id) else UNSET
    return LeafView(**place, leaf=text, price_salt=salt)


def _visible(grant: Grant, about: LeafEntry) -> bool:
    """As `history.ledger_since`."""
    if grant.finished_only and not about.finished:
        return False
    return entry_offered(about.entry, grant.tenant.types_off)


def _prices_known(grant: Grant, leaf: StoredLeaf, type_id: int) -> bool:
    """Whether the tenant received every price of the history, with standard odds: of others it could find
    out by the digest."""
    offer: TenantOffer = grant.tenant.offer
    if scopes.MARKETS not in grant.scopes or not leaf.price_count:
        return False
    if not offer:
        return True
    then = offer.within(leaf.price_first_seq, leaf.entry_id)
    return not then.profiles and all(one.type_id != type_id for one in then.types_off)


async def inclusion_proof(store: Store, day: str, index: int, size: int) -> InclusionProofView:
    """Raises `Invalid` for an index that is not below the size, `NotFound` for more leaves than there
    are."""
    if index >= size:
        raise Invalid(Field(("query", "index"), "index: below the size.", "index", str(index)))
    hashes = await _hashes(store, day, size)
    path, top = await run_in_thread(lambda: (inclusion_path(hashes, index), root(hashes)))
    return InclusionProofView(
        day=day, index=index, size=size, leaf_hash=hashes[index].hex(), root=top.hex(), path=_hex(path)
    )


async def consistency_proof(store: Store, day: str, first: int, second: int) -> ConsistencyProofView:
    """Raises as `inclusion_proof`."""
    if first > second:
        raise Invalid(Field(("query", "first"), "first: not above second.", "first", str(first)))
    hashes = await _hashes(store, day, second)
    path, tops = await run_in_thread(
        lambda: (consistency_path(hashes, first), (root(hashes[:first]), root(hashes)))
    )
    return ConsistencyProofView(
        day=day,
        first=first,
        second=second,
        first_root=tops[0].hex(),
        second_root=tops[1].hex(),
        path=_hex(path),
    )


async def _hashes(store: Store, day: str, size: int) -> list[bytes]:
    """The leaves' hashes. The connection is free again before a proof is computed, which may have to wait."""
    async with store.autocommit() as tx:
        hashes = await ledger.hashes(tx, day, size)
    if len(hashes) < size:
        raise NotFound(f"{day} has {len(hashes)} leaves.", code="no_leaf", day=day)
    return hashes


def _hex(path: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(node.hex() for node in path)
