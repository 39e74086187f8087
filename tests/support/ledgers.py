"""Signed ledgers without a database, as the service writes and serves them.

The same steps make the same bytes: salts and keys are numbers. `python -m tests.support.ledgers` writes the
example of docs/ledger.md.
"""

import json
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from subprocess import run
from typing import Any
from uuid import UUID

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import UNSET

from app.domain.ledger_tree import (
    NO_HASH,
    Head,
    HeadKind,
    Signature,
    SignedHead,
    StoredLeaf,
    day_after,
    head_bytes,
    leaf_bytes,
    leaf_hash,
    price_digest,
    root,
)
from app.domain.market import MarketStatus, Result, market_name
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.ledger.keys import key_id
from app.ledger.prices import price_line
from app.store.price_rows import PriceRow
from app.wire.views.ledger import LeafView, head_view
from app.wire.views.offers import STATUS_NAMES, settlement_view
from app.wire.views.prices import PriceView

VERIFIER = Path(__file__).resolve().parents[2] / "scripts" / "verifier" / "verify_ledger.py"
EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "ledger-example"
BEGIN = 1_932_854_400_000  #: a midnight
FIRST_DAY = "2031-04-02"
HOUR, DAY = 3_600_000, 86_400_000
SETTLED, ROLLBACK = (
    (LedgerStatus.PENDING, LedgerStatus.SETTLED),
    (LedgerStatus.SETTLED, LedgerStatus.PENDING),
)
VOIDED = LedgerStatus.PENDING, LedgerStatus.VOIDED
MATCH = UUID(int=3)
FACTS = 40  #: the number of the fact that the first settlement follows from
Json = dict[str, Any]


class SavedLedger(msgspec.Struct):
    """What the API answers: rows of `data`. Prices are those of one match."""

    keys: list[Json]
    heads: list[Json]
    leaves: list[Json]
    settlements: list[Json]
    prices: list[Json]

    def copy(self) -> "SavedLedger":
        return msgspec.json.decode(msgspec.json.encode(self), type=SavedLedger)

    def save(self, directory: Path) -> None:
        """As somebody saves it who joins the pages of each."""
        for name in ("keys", "heads", "leaves", "settlements"):
            (directory / f"{name}.json").write_bytes(_answer(getattr(self, name)))

    def answers(self) -> dict[str, bytes]:
        """What the API answers, by the names of files: for leaves, one answer for each day."""
        days = dict.fromkeys(parsed(row, "head")["day"] for row in self.heads)
        found = {
            "keys": _answer(self.keys),
            "heads": _answer(self.heads, limit=1000),
            "settlements": _answer(self.settlements, limit=200),
            "prices": _answer(
                self.prices, limit=1000, next_since_seq=self.prices[-1]["seq"], more=False, complete_from=0
            ),
        }
        for day in days:
            rows = [row for row in self.leaves if row["day"] == day]
            found[f"leaves-{day}"] = _answer(rows, limit=1000, total=len(rows))
        return {f"{name}.json": body for name, body in found.items()}


def _answer(rows: list[Json], **meta: object) -> bytes:
    body = {"data": rows, "meta": {"count": len(rows)} | meta}
    return msgspec.json.format(msgspec.json.encode(body), indent=1)


class SigningKey:
    """A key that anybody can compute."""

    def __init__(self, number: int) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(number.to_bytes(32, "big"))
        self.public = self._private.public_key().public_bytes_raw()
        self.id = key_id(self.public)

    def sign(self, data: bytes) -> Signature:
        return Signature(self.id, self._private.sign(data).hex())


class LedgerMaker:
    """Adds leaves and heads one after the other."""

    def __init__(self) -> None:
        self.key = SigningKey(1)
        self.now, self.day = BEGIN, FIRST_DAY
        self.hashes: list[bytes] = []
        self.last_leaf, self.last_head, self.last_id, self.round = NO_HASH, NO_HASH, 0, 0
        self.prices: dict[int, list[PriceRow]] = {}
        self.saved = SavedLedger([self._key()], [], [], [], [])

    def _key(self) -> Json:
        public = self.key.public.hex()
        return {"key_id": self.key.id, "public_key": public, "created_at": self.now, "retired_at": None}

    def price(self, odds: str | None, status: MarketStatus = MarketStatus.ACTIVE) -> None:
        """A change of the market of the last round that has an entry, or of the next one."""
        self.last_id += 1
        row = PriceRow(self.last_id, self.now + self.last_id % 1000, status, odds and Decimal(odds) or None)
        self.prices.setdefault(self.round, []).append(row)
        view = PriceView(
            seq=row.seq,
            timestamp=row.at,
            message="odds_change",
            market_offer_id=market_name(13, _specifiers(self.round)),
            market_id=13,
            specifiers=_specifiers(self.round),
            status=STATUS_NAMES[status],
            odds=UNSET if row.odds is None else float(row.odds),
        )
        self.saved.prices.append(msgspec.to_builtins(view))

    def settlement(self, result: Result = Result.WON) -> None:
        """The next market with a price, and its settlement; what was settled before head 1 has no leaf."""
        self.round += 1
        self.price("1.85")
        self.saved.settlements.append(self._settlement(self._entry(SETTLED, result)))

    def leaf(self, *, shown: bool = True, result: Result = Result.WON) -> None:
        """The next market with two prices, and its settlement, which may be hidden."""
        self.round += 1
        for odds in ("1.85", "1.9"):
            self.price(odds)
        self.entry(SETTLED, result, shown=shown)
        self.price(None, MarketStatus.SETTLED)

    def entry(
        self,
        change: tuple[LedgerStatus, LedgerStatus],
        result: Result | None,
        *,
        shown: bool = True,
        **fields: Any,
    ) -> None:
        """An entry of the last market, with its leaf."""
        entry = self._entry(change, result, **fields)
        rows = self.prices.get(self.round, [])
        lines = "".join(map(price_line, rows)).encode()
        stored = StoredLeaf(
            entry_id=entry.id,
            day=self.day,
            index=len(self.hashes),
            hash=b"",
            salt=(2 * entry.id).to_bytes(16, "big"),
            price_salt=(2 * entry.id + 1).to_bytes(16, "big"),
            price_count=len(rows),
            price_first_seq=rows[0].seq if rows else 0,
            price_digest=price_digest((2 * entry.id + 1).to_bytes(16, "big"), lines),
        )
        text = leaf_bytes(stored, self.last_leaf, MATCH, MATCH.int, entry)
        self.last_leaf = leaf_hash(text)
        view = LeafView(day=self.day, index=stored.index, hash=self.last_leaf.hex())
        if shown:
            salt = stored.price_salt.hex() if rows else UNSET
            view = msgspec.structs.replace(view, leaf=text.decode(), price_salt=salt)
            self.saved.settlements.append(self._settlement(entry))
        self.saved.leaves.append(msgspec.to_builtins(view))
        self.hashes.append(self.last_leaf)

    def _entry(
        self, change: tuple[LedgerStatus, LedgerStatus], result: Result | None, **fields: Any
    ) -> LedgerEntry:
        self.last_id += 1
        return LedgerEntry(
            13,
            _specifiers(self.round),
            *change,
            result,
            **{"reason": "round won by Zürich “Löwen”", "rests_on": (FACTS + self.round,)} | fields,
            id=self.last_id,
            at=self.now + 999,
        )

    def _settlement(self, entry: LedgerEntry) -> Json:
        found: Json = msgspec.to_builtins(settlement_view(MATCH, MATCH.int, entry))
        return found

    def head(self, kind: HeadKind = HeadKind.HOUR) -> None:
        """A signed head; after one of the kind `day` the next day begins."""
        if kind is HeadKind.DAY:
            self.now += DAY - self.now % DAY + 2000
        elif kind is HeadKind.HOUR:
            self.now += HOUR - self.now % HOUR + 1000
        else:
            self.now += 1000
        if not self.saved.heads:
            self.saved.keys[0]["created_at"] = self.now
        head = Head(
            number=len(self.saved.heads) + 1,
            kind=kind,
            day=self.day,
            size=len(self.hashes),
            root=root(self.hashes).hex(),
            through=self.last_id,
            time=self.now,
            previous=self.last_head.hex(),
            key_id=self.key.id,
        )
        keys = [self.key]
        if kind in (HeadKind.ROTATION, HeadKind.NEW_KEY):
            old, self.key = self.key, SigningKey(len(self.saved.keys) + 1)
            self.saved.keys[-1]["retired_at"] = self.now
            keys = [old, self.key] if kind is HeadKind.ROTATION else [self.key]
            head = msgspec.structs.replace(head, next_key=self.key.public.hex())
            self.saved.keys.append(self._key())
        self._append(head, keys)
        if kind is HeadKind.DAY:
            self.day, self.hashes = day_after(self.day), []

    def _append(self, head: Head, keys: Sequence[SigningKey]) -> None:
        body = head_bytes(head)
        signed = SignedHead(body, tuple(key.sign(body) for key in keys))
        self.last_head = signed.hash
        self.saved.heads.append(msgspec.to_builtins(head_view(signed)))


def _specifiers(number: int) -> str:
    return f"map=1|round={number}|team=home"


def example() -> SavedLedger:
    """That of docs/ledger.md: three days."""
    maker = LedgerMaker()
    maker.settlement()
    maker.head()
    maker.leaf(shown=False)
    maker.leaf()
    maker.head(HeadKind.ROTATION)
    maker.leaf(result=Result.LOST)
    maker.entry(ROLLBACK, None, reason="the log was corrected")
    maker.entry(SETTLED, Result.WON, is_resettlement=True, settled_by="admin", reason="the log was corrected")
    maker.head()
    maker.round += 1
    maker.price("2.125")
    maker.entry(VOIDED, Result.VOID, void_reason_id=1, reason="not played")
    window = VoidWindow(maker.now - 60_000, maker.now)
    for back in (False, True):
        fields: Json = {"void_window": window, "window_rolled_back": back, "reason": "round played again"}
        state = LedgerStatus.PENDING, LedgerStatus.PENDING
        maker.round += not back
        maker.entry(state, None, void_reason_id=2, **fields)
    maker.head(HeadKind.DAY)
    maker.head(HeadKind.DAY)
    maker.last_id = 2**53
    maker.leaf()
    maker.head()
    maker.head(HeadKind.RESTORED)
    maker.leaf()
    return maker.saved


def verified(directory: Path, *options: str) -> tuple[int, str]:
    """The exit code of the verifier, and what it printed."""
    command = [sys.executable, str(VERIFIER), "--directory", str(directory), *options]
    ended = run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def parsed(row: Json, name: str) -> Json:
    """The JSON in a text of a row."""
    found: Json = json.loads(row[name])
    return found


if __name__ == "__main__":
    for _name, _body in example().answers().items():
        (EXAMPLE / _name).write_bytes(_body)
