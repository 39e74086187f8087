"""Writes leaves behind the settlement ledger, and signs heads.

Any feed process may run it: what it reads it reads in a snapshot, and writes only if the state is still the
one that it has read, under the state's lock. After any end the next one goes on from what is stored.
"""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from app.domain.daily_files import day_of
from app.domain.ledger_tree import (
    NO_HASH,
    Head,
    HeadKind,
    SignedHead,
    StoredLeaf,
    day_after,
    head_bytes,
    leaf_bytes,
    leaf_hash,
    price_digest,
    root,
)
from app.domain.settlement import LedgerEntry
from app.kit import metrics
from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock, system_clock
from app.kit.errors import Conflict
from app.kit.heavy_work import run_in_thread
from app.kit.logging import get_logger
from app.ledger.keys import UnusableKey, new_key, sign
from app.ledger.prices import PriceHistory, price_histories
from app.store import audit, history, ledger
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.ledger import State, StoredKey
from app.store.transaction import Tx

BATCH = 500  #: entries whose leaves are written together
_EVERY_SECONDS = 1.0
_HOUR_MILLIS = 3_600_000
_SALT_BYTES = 16
log = get_logger(__name__)


class LedgerWriter:
    """Run it with `run`; `secret` is SECRET_KEY."""

    def __init__(self, store: Store, secret: str, clock: Clock = system_clock) -> None:
        self._store, self._secret, self._clock = store, secret, clock
        self._unusable = ""

    async def run(self) -> None:
        """Follow the settlement ledger until cancelled."""
        while True:
            await retry_while_unavailable("writing the signed ledger", self.catch_up)
            await asyncio.sleep(_EVERY_SECONDS)

    async def catch_up(self) -> None:
        """Sign the heads that are due, and write the leaves that are missing. Raises `Unavailable`."""
        await self.sign_due()
        while await self.add_leaves() == BATCH:
            await self.sign_due()
        await self._update_gauges()

    async def sign_due(self) -> None:
        """Sign the last heads of days that are over, and one in each hour. Without a key that can be used it
        is logged, once, and nothing is signed. Raises `Unavailable`."""
        try:
            async with self._store.transaction() as tx:
                state = await ledger.lock(tx, skip=True)
                if state is not None:
                    await self._sign_due(tx, state, self._clock())
        except UnusableKey as error:
            if self._unusable != error.detail:
                log.error("no head of the ledger can be signed", error=error.detail)
            self._unusable = error.detail

    async def _sign_due(self, tx: Tx, state: State, now: int) -> None:
        newest = await ledger.newest_head(tx)
        hour, today = now // _HOUR_MILLIS, str(day_of(now))
        signed = newest is not None and newest.head.time // _HOUR_MILLIS >= hour
        if newest and signed and not state.restored and _open_day(newest.head) >= today:
            return
        signer = await _Signer.begin(tx, self._secret, now, newest)
        if state.restored:
            await signer.say_restored()
        while signer.day < today:
            await signer.sign(HeadKind.DAY)
        if signer.newest is None or signer.newest.head.time // _HOUR_MILLIS < hour:
            await signer.sign(HeadKind.HOUR)

    async def add_leaves(self) -> int:
        """Write the next leaves; how many, 0 where another process was faster. Raises `Unavailable`."""
        async with self._store.snapshot() as tx:
            begin = await ledger.reached(tx)
            found = await history.ledger_since(tx, begin, BATCH)
            prices = await price_histories(tx, found)
        if not found:
            return 0
        async with self._store.transaction() as tx:
            state = await ledger.lock(tx, skip=True)
            newest = await ledger.newest_head(tx)
            if newest is None or state is None or state.entry_id != begin:
                return 0
            day = _open_day(newest.head)
            first, previous = await ledger.size(tx, day), await ledger.last_hash(tx)
            await ledger.add_leaves(tx, _leaves(day, first, previous, found, prices))
        return len(found)

    async def _update_gauges(self) -> None:
        async with self._store.autocommit() as tx:
            newest = await ledger.newest_head(tx)
            behind = await ledger.behind(tx, await ledger.reached(tx))
        metrics.ledger_leaves_behind.set(behind)
        if newest:
            metrics.ledger_head_age.set(max(0, self._clock() - newest.head.time) / 1000)


async def rotate(
    store: Store, secret: str, *, by: str, without_old_key: bool = False, clock: Clock = system_clock
) -> SignedHead:
    """Have a new key sign from now on; the head that says so. Raises `UnusableKey`, unless `without_old_key`,
    where the old one cannot be decrypted, and `Conflict` before the first head."""
    now = clock()
    async with store.transaction() as tx:
        state, newest = await ledger.lock(tx, skip=False), await ledger.newest_head(tx)
        if state is None or newest is None:
            raise Conflict("There is no head yet: start a feed process (matchfeed feed) first.")
        signer = await _Signer.begin(tx, secret, now, newest)
        if state.restored and not without_old_key:
            await signer.say_restored()
        made = await signer.rotate(lost=without_old_key)
        await audit.add(tx, AuditRecord(now, by, "ledger.rotate", made.head.key_id))
    log.info("the ledger is signed by another key", key=made.head.key_id, head=made.head.number)
    return made


class _Signer:
    """Signs heads one after the other, in a transaction that has the state's lock."""

    def __init__(self, tx: Tx, secret: str, now: int, key: StoredKey, newest: SignedHead | None) -> None:
        self._tx, self._secret, self._now = tx, secret, now
        self._key, self.newest = key, newest

    @classmethod
    async def begin(cls, tx: Tx, secret: str, now: int, newest: SignedHead | None) -> "_Signer":
        """Clocks of processes differ: nothing is signed at an earlier time than the newest head."""
        now = max(now, newest.head.time) if newest else now
        key = await ledger.current_key(tx)
        if key is None:
            key = new_key(secret, now)
            await ledger.add_key(tx, key)
            log.info("a key for the ledger was made", key=key.id)
        return cls(tx, secret, now, key, newest)

    @property
    def day(self) -> str:
        """The day whose tree is open."""
        return _open_day(self.newest.head) if self.newest else str(day_of(self._now))

    async def sign(self, kind: HeadKind) -> SignedHead:
        """Sign the next head, of the open day's tree as it is."""
        body = head_bytes(await self._head(kind))
        return await self._add(SignedHead(body, (sign(self._key, self._secret, body),)))

    async def say_restored(self) -> None:
        """Sign a head that says that the database was restored; without any before it there is no need."""
        await ledger.set_restored(self._tx, False)
        if self.newest:
            await self.sign(HeadKind.RESTORED)

    async def rotate(self, *, lost: bool) -> SignedHead:
        """Sign a head after which another key signs: with both, or with the new one alone if the old one is
        `lost`."""
        old, new = self._key, new_key(self._secret, self._now)
        kind = HeadKind.NEW_KEY if lost else HeadKind.ROTATION
        head = await self._head(kind)
        body = head_bytes(msgspec.structs.replace(head, next_key=new.public_key.hex()))
        signatures = [] if lost else [sign(old, self._secret, body)]
        signatures.append(sign(new, self._secret, body))
        await ledger.retire_key(self._tx, old.id, self._now)
        await ledger.add_key(self._tx, new)
        self._key = new
        return await self._add(SignedHead(body, tuple(signatures)))

    async def _head(self, kind: HeadKind) -> Head:
        newest, day = self.newest, self.day
        hashes = await ledger.hashes(self._tx, day, 2**31 - 1)
        return Head(
            number=newest.head.number + 1 if newest else 1,
            kind=kind,
            day=day,
            size=len(hashes),
            root=(await run_in_thread(root, hashes)).hex(),
            through=await ledger.reached(self._tx),
            time=self._now,
            previous=(newest.hash if newest else NO_HASH).hex(),
            key_id=self._key.id,
        )

    async def _add(self, signed: SignedHead) -> SignedHead:
        await ledger.add_head(self._tx, signed)
        self.newest = signed
        head = signed.head
        log.info("a head of the ledger was signed", head=head.number, kind=head.kind, size=head.size)
        return signed


def _leaves(
    day: str,
    first: int,
    previous: bytes,
    entries: Sequence[tuple[UUID, int, LedgerEntry]],
    prices: Mapping[int, PriceHistory],
) -> list[StoredLeaf]:
    """The leaves of these entries, with new salts."""
    made = []
    for index, (match_id, number, entry) in enumerate(entries, first):
        own, price_salt = prices[entry.id], secrets.token_bytes(_SALT_BYTES)
        leaf = StoredLeaf(
            entry_id=entry.id,
            day=day,
            index=index,
            hash=b"",
            salt=secrets.token_bytes(_SALT_BYTES),
            price_salt=price_salt,
            price_count=own.count,
            price_first_seq=own.first_seq,
            price_digest=price_digest(price_salt, own.lines),
        )
        previous = leaf_hash(leaf_bytes(leaf, previous, match_id, number, entry))
        made.append(msgspec.structs.replace(leaf, hash=previous))
    return made


def _open_day(head: Head) -> str:
    """The day whose tree is open after this head."""
    return day_after(head.day) if head.kind is HeadKind.DAY else head.day
