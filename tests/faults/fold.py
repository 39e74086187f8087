"""The settlements that a consumer derives from its messages, and those of the ledger."""

from collections.abc import Iterable
from typing import Any

import msgspec
from lxml import etree

from app.domain.settlement import LedgerEntry, LedgerStatus
from app.store.connections import Store
from tests.faults.rig import Consumer, Got

#: (match, market id, specifiers, or those and a window): won, lost, void or pending
Ledger = dict[tuple[str, str, str], str]
_RESULT = {"1": "won", "0": "lost"}
_entry = msgspec.json.Decoder(LedgerEntry).decode


def folded(messages: Iterable[Got]) -> Ledger:
    """The latest state of each market: each message counts once, in the order of numbers."""
    ledger: Ledger = {}
    for got in {each.seq: each for each in messages if each.seq is not None}.values():
        root = etree.fromstring(got.body)
        if root.tag == "odds_change":
            continue
        for market in root.iter("market"):
            ledger[key_of(root, market)] = outcome_of(root.tag, market)
    return ledger


def folded_with_replay(messages: Iterable[Got]) -> Ledger:
    """The newest state of each market by its timestamp, whatever order live and replayed ones came in; what
    is on offer is not settled."""
    newest: dict[tuple[str, str, str], tuple[int, str]] = {}
    for got in messages:
        root = etree.fromstring(got.body)
        at = int(root.get("timestamp", "0"))
        for market in root.iter("market"):
            if root.tag == "odds_change" and market.get("status") not in ("1", "-1"):
                continue
            key = key_of(root, market)
            state = "pending" if root.tag == "odds_change" else outcome_of(str(root.tag), market)
            newest[key] = max(newest.get(key, (0, "")), (at, state))
    return {key: state for key, (_, state) in newest.items()}


def key_of(root: Any, market: Any) -> tuple[str, str, str]:
    """What a message is about: a market, or the bets of a window on it, void or not by themselves."""
    about = market.get("specifiers", "")
    if root.get("end_time"):
        about = windowed(about, root.get("start_time"), root.get("end_time"))
    return root.get("event_id", ""), market.get("id", ""), about


def windowed(specifiers: str, start: object, end: object) -> str:
    return f"{specifiers} {start}-{end}"


def outcome_of(tag: str, market: Any) -> str:
    """The state that a message has for one of its markets."""
    if tag == "bet_settlement":
        return _RESULT[market[0].get("result", "")]
    return "void" if tag == "bet_cancel" else "pending"


async def ledger_of(store: Store) -> Ledger:
    """The latest state of each market in the store's ledger."""
    async with store.autocommit() as tx:
        rows = await tx.fetch(
            "SELECT m.number, e.body FROM ledger_entry e JOIN match m ON m.id = e.match_id ORDER BY e.id"
        )
    return {
        (f"od:match:{row['number']}", *_about(entry)): _outcome(entry)
        for row in rows
        for entry in [_entry(row["body"])]
    }


def _about(entry: LedgerEntry) -> tuple[str, str]:
    type_id, specifiers = entry.key
    if window := entry.void_window:
        specifiers = windowed(specifiers, window.start_time, window.end_time)
    return str(type_id), specifiers


def _outcome(entry: LedgerEntry) -> str:
    if entry.void_window:
        return "pending" if entry.window_rolled_back else "void"
    if entry.new_status is LedgerStatus.PENDING:
        return "pending"
    return str(entry.result)


async def everything(store: Store) -> set[int]:
    """The numbers of all envelopes that there are to publish."""
    return await _envelopes(store, "")


async def persistent(store: Store) -> set[int]:
    """The numbers of those that a durable queue keeps while the broker restarts."""
    return await _envelopes(store, "", "odds_change")


async def _envelopes(store: Store, *without: str) -> set[int]:
    async with store.autocommit() as tx:
        rows = await tx.fetch("SELECT DISTINCT envelope_seq FROM change WHERE message <> ALL($1)", without)
    return {row["envelope_seq"] for row in rows}


def check(consumer: Consumer, ledger: Ledger) -> None:
    """Nothing lost, nothing invented, nothing out of order, and the settlements are the ledger's."""
    consumer.check_identity()
    consumer.check_order()
    assert folded(sorted(consumer.live, key=lambda got: got.seq or 0)) == ledger
