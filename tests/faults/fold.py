"""What a consumer makes of the settlements that it was told, and what the ledger says about them."""

from collections.abc import Iterable
from typing import Any

import msgspec
from lxml import etree

from app.domain.settlement import LedgerEntry, LedgerStatus
from app.store.connections import Store
from tests.faults.rig import Consumer, Got

Ledger = dict[tuple[str, str, str], str]  #: (match, market id, specifiers): won, lost, void or pending
_RESULT = {"1": "won", "0": "lost"}
_entry = msgspec.json.Decoder(LedgerEntry).decode


def folded(told: Iterable[Got]) -> Ledger:
    """The latest word on each market, messages taken once each and in the order of their numbers."""
    ledger: Ledger = {}
    for got in {each.seq: each for each in told if each.seq is not None}.values():
        root = etree.fromstring(got.body)
        if root.tag == "odds_change":
            continue
        for market in root.iter("market"):
            key = (root.get("event_id", ""), market.get("id", ""), market.get("specifiers", ""))
            ledger[key] = word(root.tag, market)
    return ledger


def folded_with_replay(told: Iterable[Got]) -> Ledger:
    """The newest word on each market by its timestamp, whatever order live and replayed ones came in; what
    is on offer is not settled."""
    newest: dict[tuple[str, str, str], tuple[int, str]] = {}
    for got in told:
        root = etree.fromstring(got.body)
        at = int(root.get("timestamp", "0"))
        for market in root.iter("market"):
            if root.tag == "odds_change" and market.get("status") not in ("1", "-1"):
                continue
            key = (root.get("event_id", ""), market.get("id", ""), market.get("specifiers", ""))
            said = "pending" if root.tag == "odds_change" else word(str(root.tag), market)
            newest[key] = max(newest.get(key, (0, "")), (at, said))
    return {key: said for key, (_, said) in newest.items()}


def word(tag: str, market: Any) -> str:
    """What a message says about one of its markets."""
    if tag == "bet_settlement":
        return _RESULT[market[0].get("result", "")]
    return "void" if tag == "bet_cancel" else "pending"


async def ledger_of(store: Store) -> Ledger:
    """The latest word of the store's ledger on each market."""
    async with store.reading() as tx:
        rows = await tx.fetch(
            "SELECT m.number, e.body FROM ledger_entry e JOIN match m ON m.id = e.match_id ORDER BY e.id"
        )
    return {
        (f"od:match:{row['number']}", *map(str, entry.key)): _outcome(entry)
        for row in rows
        for entry in [_entry(row["body"])]
    }


def _outcome(entry: LedgerEntry) -> str:
    if entry.new_status is LedgerStatus.PENDING:
        return "pending"
    return str(entry.outcome)


async def everything(store: Store) -> set[int]:
    """The numbers of all envelopes that there are to be told."""
    async with store.reading() as tx:
        rows = await tx.fetch("SELECT DISTINCT envelope_seq FROM change WHERE message <> ''")
    return {row["envelope_seq"] for row in rows}


def check(consumer: Consumer, ledger: Ledger) -> None:
    """Nothing lost, nothing invented, nothing out of order, and the settlements are the ledger's."""
    consumer.check_identity()
    consumer.check_order()
    assert folded(sorted(consumer.live, key=lambda got: got.seq or 0)) == ledger
