"""Verify the signed ledger (docs/ledger.md) with Python's standard library and `cryptography` alone: what
save_ledger.py has saved in a directory. It prints the first fault."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any as Json

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_MOST_MILLIS = 4_200_000  #: between two heads
MARKET = ("match_id", "match_urn", "market_offer_id", "market_id", "specifiers", "message")
RESULT = ("previous_status", "new_status", "outcome", "settled_by", "reason", "is_resettlement")
VOID = ("void_reason_id", "void_from", "void_until", "rests_on")
LEAF = ("version", "day", "index", "previous", "salt", "id", *MARKET, "timestamp", *RESULT, *VOID, "prices")
TREE = ("version", "number", "kind", "day", "size", "root")
HEAD = (*TREE, "through", "time", "previous", "key_id", "next_key")
SAME = (*MARKET, *RESULT, *VOID)  #: of a settlement of REST and its leaf


class Fault(Exception):
    """The text begins with the fault's name."""


def ensure(holds: bool, fault: str) -> None:
    if not holds:
        raise Fault(fault)


def unique(pairs: list[tuple[str, Json]]) -> Json:
    ensure(len(dict(pairs)) == len(pairs), "malformed: a field is there twice")
    return dict(pairs)


def parsed(text: str, fields: tuple[str, ...]) -> Json:
    value = json.loads(text, object_pairs_hook=unique)
    if value["version"] != 1:
        sys.exit(f"version {value['version']}: this program is too old for it")
    ensure(tuple(value) == fields, "malformed: other fields, or in another order")
    return value


def as_leaf(entry: Json) -> list[Json]:
    """What the leaf of a settlement of REST says, with the second of its timestamp."""
    names, window = {"settled": "bet_settlement", "voided": "bet_cancel"}, entry.get("void_window")
    if window:
        entry = entry | {"void_from": window["start_time"], "void_until": window["end_time"]}
        message = "rollback_bet_cancel" if window["rolled_back"] else "bet_cancel"
    else:
        message = names.get(entry["new_status"]) or "rollback_" + names[entry["previous_status"]]
    at = datetime.fromisoformat(entry["created_at"]).timestamp()
    return [*map((entry | {"message": message}).get, SAME), at]


class Tree:
    """A tree that grows: `parts` are the roots of its complete subtrees, the largest first."""

    def __init__(self) -> None:
        self.size, self.parts = 0, list[bytes]()

    def add(self, node: bytes) -> None:
        bits, self.size = self.size, self.size + 1
        while bits & 1:
            node, bits = sha256(b"\x01" + self.parts.pop() + node).digest(), bits >> 1
        self.parts.append(node)

    def root(self) -> str:
        node = self.parts[-1] if self.parts else sha256().digest()
        for part in reversed(self.parts[:-1]):
            node = sha256(b"\x01" + part + node).digest()
        return node.hex()


def key_id(public_key: str) -> str:
    return sha256(bytes.fromhex(public_key)).hexdigest()[:16]


def check_signature(view: Json, public_key: str) -> None:
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
    found = {one["key_id"]: one["signature"] for one in view["signatures"]}.get(key_id(public_key), "")
    try:
        key.verify(bytes.fromhex(found), view["head"].encode())
    except (InvalidSignature, ValueError):
        raise Fault(f"changed head: {view['number']} lacks the signature of {key_id(public_key)}") from None


def check_heads(views: Iterable[Json], key: str, new_keys: list[str]) -> tuple[list[Json], list[str]]:
    """The heads, parsed, and the keys. `new_keys` may sign although the one before did not say so."""
    heads, keys, before, last = list[Json](), [key], "0" * 64, None
    for place, view in enumerate(views, 1):
        head = parsed(view["head"], HEAD)
        number, kind = head["number"], head["kind"]
        ensure(number == place == view["number"], f"removed, inserted or reordered head: at {place}")
        own = sha256(view["head"].encode()).hexdigest()
        ensure(own == view["hash"], f"changed head: {number} does not have its hash")
        if kind == "new_key":
            ensure(head["next_key"] in new_keys, f"replaced key: head {number} is not signed by the old one")
        else:
            check_signature(view, keys[-1])
        changes = kind in ("rotation", "new_key")
        named = (head["key_id"], head["next_key"] is not None) == (key_id(keys[-1]), changes)
        named = named and len(view["signatures"]) == 1 + (kind == "rotation")
        ensure(named, f"changed head: {number} names another key, or has other signatures")
        if changes:
            keys.append(head["next_key"])
            check_signature(view, keys[-1])
        ensure(head["previous"] == before, f"rewritten head: {number} does not follow {number - 1}")
        if last:
            day = str(date.fromisoformat(last["day"]) + timedelta(last["kind"] == "day"))
            delay, size = head["time"] - last["time"], last["size"] if day == last["day"] else 0
            grows = head["day"] == day and delay >= 0 and head["through"] >= last["through"]
            ensure(grows and head["size"] >= size, f"rewritten head, or removed one: before {number}")
            if delay > _MOST_MILLIS:
                print(f"note: head {number} is of {delay // 60_000} minutes after {number - 1}")
        ensure(number > 1 or (kind, head["size"]) == ("hour", 0), "rewritten head: 1 has leaves")
        began = datetime.fromisoformat(head["day"] + "T00:00+00:00") + timedelta(kind == "day")
        ensure(head["time"] >= began.timestamp() * 1000, f"rewritten head: {number} is too early")
        if kind == "restored":
            print(f"note: head {number}: the database was restored; later heads that you had are void")
        before, last = own, head
        heads.append(head)
    return heads, keys


def check_leaves(days: dict[str, list[Json]], views: Iterable[Json]) -> tuple[int, dict[int, Json]]:
    """How many leaves there are, and those that are shown, by the id of their entry."""
    before, count, shown, remaining = "0" * 64, 0, dict[int, Json](), iter(views)
    view, last_id = next(remaining, None), next(iter(days.values()))[0]["through"]
    for day, heads in days.items():
        tree, waiting = Tree(), list(heads)
        while True:
            where = f"{day}, index {tree.size}"
            while waiting and waiting[0]["size"] == tree.size:
                head = waiting.pop(0)
                right = tree.root() == head["root"] and last_id <= head["through"]
                ensure(right, f"changed leaves: before {where}, by head {head['number']}")
                last_id = max(last_id, head["through"])
            if view is None or view["day"] != day:
                break
            expected = view["index"] == tree.size and (waiting or heads[-1]["kind"] != "day")
            ensure(bool(expected), f"removed, inserted or reordered leaf: {where}")
            last_id += 1  # the id of the entry is at least this, also where it is hidden
            if "leaf" in view:
                own = sha256(b"\x00" + view["leaf"].encode()).hexdigest()
                ensure(own == view["hash"], f"changed leaf: {where}")
                leaf = parsed(view["leaf"], LEAF)
                place = (leaf["day"], leaf["index"], leaf["previous"]) == (day, tree.size, before)
                ensure(place and leaf["id"] >= last_id, f"changed, removed or inserted leaf: before {where}")
                last_id = leaf["id"]
                shown[last_id] = [*map(leaf.get, SAME), leaf["timestamp"] // 1000]
            before, count = view["hash"], count + 1
            tree.add(bytes.fromhex(before))
            view = next(remaining, None)
        ensure(not waiting, f"removed leaf: {day} has {tree.size}, fewer than its heads say")
    ensure(view is None or view["day"] > max(days), "inserted or reordered leaf: of another day")
    return count, shown


def rows(directory: Path, name: str) -> Iterator[Json]:
    """What the saved answers have under `data`, in the order of the files' names."""
    for path in sorted(directory.glob(f"{name}*.json")):
        yield from json.loads(path.read_bytes())["data"]


def verify(directory: Path, key: str, new_keys: list[str]) -> str:
    """What was verified. Raises `Fault`."""
    listed = [row["public_key"] for row in rows(directory, "keys")]
    heads, keys = check_heads(rows(directory, "heads"), key or listed[0], new_keys)
    ensure(bool(heads) and listed in (keys, keys[:-1]), "changed keys, or no heads")  # read before the heads
    days = {day: list(own) for day, own in groupby(heads, lambda head: str(head["day"]))}
    count, shown = check_leaves(days, rows(directory, "leaves"))
    received = {entry["id"]: entry for entry in rows(directory, "settlements")}
    for each, entry in received.items():  # each one must be a leaf that says the same
        if heads[0]["through"] < each <= heads[-1]["through"]:
            ensure(shown.get(each) == as_leaf(entry), f"removed leaf, or changed settlement: {each}")
    inserted = min(shown.keys() - received.keys(), default=2**63) <= max(received, default=0)
    ensure(not inserted, "inserted leaf: of a settlement that was not received")
    return f"no fault: {len(heads)} heads, {count} leaves, {len(shown)} of them shown"


def main() -> None:
    parser = argparse.ArgumentParser(description="Verify the signed ledger.")
    parser.add_argument("--directory", type=Path, default=Path("ledger"))
    parser.add_argument("--public-key", default="", help="the first key, else that of the saved ones")
    parser.add_argument("--new-key", action="append", default=[], help="the public key after a lost one")
    args = parser.parse_args()
    try:
        print(verify(args.directory, args.public_key, args.new_key))
    except (Fault, IndexError, KeyError, TypeError, ValueError) as fault:
        sys.exit(f"fault: {'' if isinstance(fault, Fault) else 'malformed: '}{fault}")


if __name__ == "__main__":
    main()
