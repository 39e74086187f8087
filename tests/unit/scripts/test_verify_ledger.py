"""The verifier finds every alteration of a ledger, and none where there is none."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.ledger_tree import HeadKind
from app.domain.market import Result
from scripts.verifier.save_ledger import extend, read
from scripts.verifier.verify_ledger import Fault, verify
from tests.support.ledgers import (
    BEGIN,
    HOUR,
    LedgerMaker,
    SavedLedger,
    SigningKey,
    parsed,
    verified,
)

Alter = Callable[[SavedLedger], object]
HIDDEN = {3, 4, 9, 15, 16}  #: which leaves are hidden, in the order of all


def ledger() -> SavedLedger:
    """Three days: leaves before, between and after heads, a day without any, a rotation, hidden leaves."""
    maker = LedgerMaker()
    maker.head()
    for number in range(24):
        maker.leaf(shown=number not in HIDDEN, result=Result.LOST if number % 3 else Result.WON)
        if number in (4, 9, 13):
            maker.head()
        if number == 7:
            maker.head(HeadKind.ROTATION)
        if number == 11:
            maker.head(HeadKind.DAY)
        if number == 17:
            maker.head(HeadKind.DAY)
            maker.head(HeadKind.DAY)
    maker.head()
    return maker.saved


SAVED = ledger()


def check(saved: SavedLedger, key: str = "", new_keys: tuple[str, ...] = ()) -> str:
    with TemporaryDirectory() as folder:
        saved.save(Path(folder))
        return verify(Path(folder), key, list(new_keys))


def edited(row: dict[str, Any], name: str, **fields: object) -> None:
    """Change what a text says, as a forger would who has no private key, and its hash with it."""
    row[name] = json.dumps(parsed(row, name) | fields, separators=(",", ":"), ensure_ascii=False)
    prefix = b"\0" if name == "leaf" else b""
    row["hash"] = sha256(prefix + row[name].encode()).hexdigest()


def renumbered(saved: SavedLedger) -> None:
    """Give leaves the indexes of their places, as a forger would after a removal or an insertion."""
    day, index = "", 0
    for row in saved.leaves:
        index = index + 1 if row["day"] == day else 0
        day = row["day"]
        row["index"] = index
        if "leaf" in row:
            edited(row, "leaf", index=index)


def chained(saved: SavedLedger) -> None:
    """Have each shown leaf name the hash of the one before it."""
    before = "0" * 64
    for row in saved.leaves:
        if "leaf" in row:
            edited(row, "leaf", previous=before)
        before = row["hash"]


def swap(rows: list[Any], one: int, other: int) -> None:
    rows[one], rows[other] = rows[other], rows[one]


def _of_leaves() -> Iterator[tuple[str, Alter]]:
    for at in (0, 5, 14):
        yield f"changed: leaf {at}", lambda saved, at=at: edited(saved.leaves[at], "leaf", outcome="void")
        yield f"changed: text of {at}", lambda saved, at=at: saved.leaves[at].update(leaf="{}")
        yield f"changed: salt of {at}", lambda saved, at=at: edited(saved.leaves[at], "leaf", salt="0" * 32)
        yield (
            f"changed: leaf {at} and the chain",
            lambda saved, at=at: (edited(saved.leaves[at], "leaf", outcome="void"), chained(saved)),
        )
    for at in (3, 9, 16):
        yield f"changed: hidden leaf {at}", lambda saved, at=at: saved.leaves[at].update(hash="ab" * 32)
    for at in (0, 3, 7, 11, 12, 17):
        yield f"removed: leaf {at}", lambda saved, at=at: saved.leaves.pop(at)
        yield (
            f"removed: leaf {at}, renumbered",
            lambda saved, at=at: (saved.leaves.pop(at), renumbered(saved), chained(saved)),
        )


def _of_places() -> Iterator[tuple[str, Alter]]:
    for at in (0, 6, 11, 17):
        yield f"inserted: twice {at}", lambda saved, at=at: saved.leaves.insert(at, dict(saved.leaves[at]))
        yield (
            f"inserted: at {at}, renumbered",
            lambda saved, at=at: (
                saved.leaves.insert(at, dict(saved.leaves[at])),
                renumbered(saved),
                chained(saved),
            ),
        )
    for one, other in ((0, 1), (3, 4), (11, 12), (15, 16)):
        yield f"swapped: {one}, {other}", lambda saved, a=one, b=other: swap(saved.leaves, a, b)
        yield (
            f"swapped: {one}, {other}, renumbered",
            lambda saved, a=one, b=other: (swap(saved.leaves, a, b), renumbered(saved), chained(saved)),
        )
    for at in (2, 13):
        yield (
            f"of another ledger: leaf {at}",
            lambda saved, at=at: saved.leaves[at].update(_another_leaf(at)),
        )
    yield (
        "of another day",
        lambda saved: saved.leaves.insert(12, dict(saved.leaves[0]) | {"day": "2031-04-03"}),
    )
    yield "of a day without heads", lambda saved: saved.leaves.append(saved.leaves[0] | {"day": "2031-04-01"})


def _of_heads() -> Iterator[tuple[str, Alter]]:
    for at in (0, 3, 5):
        yield f"rewritten head: size of {at}", lambda saved, at=at: edited(saved.heads[at], "head", size=1)
        yield (
            f"rewritten head: root of {at}",
            lambda saved, at=at: edited(saved.heads[at], "head", root="0" * 64),
        )
        yield f"removed head: {at}", lambda saved, at=at: saved.heads.pop(at)
        yield (
            f"head of another ledger: {at}",
            lambda saved, at=at: saved.heads.__setitem__(at, _another_head(at)),
        )
    yield "swapped heads", lambda saved: swap(saved.heads, 3, 4)
    yield "inserted head", lambda saved: saved.heads.insert(2, dict(saved.heads[2]))
    yield (
        "signature of another head",
        lambda saved: saved.heads[4].update(signatures=saved.heads[1]["signatures"]),
    )
    yield "no signature", lambda saved: saved.heads[4].update(signatures=[])
    yield "rotation by the new key alone", lambda saved: saved.heads[2]["signatures"].pop(0)
    yield "rotation by the old key alone", lambda saved: saved.heads[2]["signatures"].pop(1)
    yield "signature twice", lambda saved: saved.heads[4].update(signatures=saved.heads[4]["signatures"] * 2)


def _of_settlements() -> Iterator[tuple[str, Alter]]:
    """Each field in which a settlement and its leaf can differ."""
    others = {"match_urn": "od:match:9", "market_id": 14, "specifiers": "map=2", "reason": "another"}
    others |= {"match_id": "00000000-0000-0000-0000-000000000009", "market_offer_id": "13:map=2"}
    results = {"previous_status": "voided", "new_status": "voided", "outcome": "void", "settled_by": "admin"}
    rest = {"is_resettlement": True, "rests_on": [1], "created_at": "2031-04-02T00:00:09+00:00"}
    window = {"start_time": 1, "end_time": 2, "rolled_back": False}
    voids = {"void_reason_id": 1, "void_window": window}
    for name, value in (others | results | rest | voids).items():
        yield f"settlement: {name}", lambda saved, n=name, v=value: saved.settlements[4].update({n: v})
    yield (
        "a settlement without a leaf",
        lambda saved: saved.settlements.append(saved.settlements[4] | {"id": 8}),
    )
    yield "a leaf without a settlement", lambda saved: saved.settlements.pop(4)


def _signed(change: Callable[[str], str], *, at: int) -> Alter:
    """Have the supplier itself sign another text of a head: it has the key."""

    def alter(saved: SavedLedger) -> None:
        head = saved.heads[at]
        text = change(head["head"])
        assert text != head["head"]
        key = SigningKey(1 if at < 3 else 2)
        head |= {"head": text, "hash": sha256(text.encode()).hexdigest()}
        head["signatures"] = [msgspec.to_builtins(key.sign(text.encode()))]
        if parsed(head, "head")["kind"] == "rotation":
            head["signatures"].append(msgspec.to_builtins(SigningKey(2).sign(text.encode())))
        del saved.heads[at + 1 :]
        last = parsed(head, "head")
        saved.leaves = [row for row in saved.leaves if row["day"] <= last["day"]]

    return alter


def _by_the_supplier() -> Iterator[tuple[str, Alter]]:
    """What is signed, and against the page."""
    yield "head: a field twice", _signed(lambda text: text.replace('"size":', '"size":0,"size":'), at=6)
    yield "head: one field more", _signed(lambda text: text.replace("}", ',"more":1}'), at=6)
    yield "head: another order", _signed(lambda text: "{" + ",".join(text[1:-1].split(",")[::-1]) + "}", at=6)
    yield "head: another key_id", _signed(lambda text: text.replace(SigningKey(2).id, SigningKey(1).id), at=6)
    yield "head: a next key", _signed(lambda text: text.replace("null", f'"{"ab" * 32}"'), at=6)
    yield "head: of before its day", _signed(lambda text: _with(text, time=BEGIN + HOUR), at=8)
    yield "head: the day is not over", _signed(lambda text: _with(text, time=BEGIN + 20 * HOUR), at=5)
    yield "head 1 of another kind", _signed(lambda text: _with(text, kind="restored"), at=0)
    yield "head 1 with leaves", lambda saved: _begun_late(saved)
    yield "no id for a hidden leaf", lambda saved: _crowded(saved)
    yield "leaf: a field twice", lambda saved: _last_leaf(saved, '"outcome":', '"outcome":"lost","outcome":')
    yield "leaf: one field more", lambda saved: _last_leaf(saved, '"rests_on":', '"more":1,"rests_on":')
    yield "leaf: a field twice inside", lambda saved: _last_leaf(saved, '"count":', '"count":1,"count":')
    yield "keys: the first one is another", lambda saved: saved.keys[0].update(public_key="ab" * 32)
    yield "keys: the last one is another", lambda saved: saved.keys[1].update(public_key="ab" * 32)
    yield "keys: one more", lambda saved: saved.keys.append(saved.keys[0])
    yield "keys: none", lambda saved: saved.keys.clear()


def _with(text: str, **fields: object) -> str:
    return json.dumps(json.loads(text) | fields, separators=(",", ":"))


def _begun_late(saved: SavedLedger) -> None:
    """Heads from a size on that is not 0."""
    maker = LedgerMaker()
    maker.leaf()
    maker.head()
    _become(saved, maker.saved)


def _crowded(saved: SavedLedger) -> None:
    """A hidden leaf between two whose ids have no number between them."""
    maker = LedgerMaker()
    maker.head()
    maker.leaf()
    before = maker.last_id
    maker.leaf(shown=False)
    maker.last_id = before - 3
    maker.leaf()
    maker.head()
    _become(saved, maker.saved)


def _last_leaf(saved: SavedLedger, old: str, new: str) -> None:
    """Another text of a leaf after the last head, which nothing binds yet."""
    maker = LedgerMaker()
    maker.head()
    maker.leaf()
    _become(saved, maker.saved)
    row = saved.leaves[-1]
    row["leaf"] = row["leaf"].replace(old, new)
    row["hash"] = sha256(b"\0" + row["leaf"].encode()).hexdigest()


def _become(saved: SavedLedger, other: SavedLedger) -> None:
    for name in saved.__struct_fields__:
        setattr(saved, name, getattr(other, name))


def _another_leaf(at: int) -> dict[str, Any]:
    maker = LedgerMaker()
    for _ in range(at + 2):
        maker.leaf(result=Result.VOID)
    return maker.saved.leaves[at]


def _another_head(at: int) -> dict[str, Any]:
    maker = LedgerMaker()
    maker.key = SigningKey(9)
    for _ in range(at + 1):
        maker.head()
    return maker.saved.heads[at]


ALTERATIONS = dict([*_of_leaves(), *_of_places(), *_of_heads(), *_of_settlements(), *_by_the_supplier()])


def test_there_are_enough() -> None:
    assert len(ALTERATIONS) >= 90


@pytest.mark.parametrize("name", ALTERATIONS)
def test_each_alteration_is_found(name: str) -> None:
    saved = SAVED.copy()
    ALTERATIONS[name](saved)
    with pytest.raises((Fault, KeyError, IndexError)):
        check(saved)


def test_it_is_the_alteration_that_is_found() -> None:
    """What the supplier signs anew has no fault as such."""
    for at in (0, 5, 6, 8):
        saved = SAVED.copy()
        _signed(lambda text: text.replace('{"version"', '{ "version"'), at=at)(saved)
        saved.leaves = [row for row in saved.leaves if at > 0]
        if at < 2:
            del saved.keys[1:]
        assert check(saved).startswith("no fault"), at


def test_another_version_is_no_fault_but_the_end() -> None:
    saved = SAVED.copy()
    _last_leaf(saved, '"version":1', '"version":2')
    with pytest.raises(SystemExit, match="version 2: this program is too old"):
        check(saved)


def test_what_was_not_altered_has_no_fault() -> None:
    assert check(SAVED).startswith("no fault: 9 heads, 24 leaves, 19 of them shown")


def test_what_was_saved_may_only_be_extended(tmp_path: Path) -> None:
    """Heads, and leaves that no head has covered yet; the text of a leaf stays when its match is deleted."""
    page = tmp_path / "leaves-2031-04-02.json"
    extend(page, SAVED.leaves[:5])
    hidden = [{name: row[name] for name in ("day", "index", "hash")} for row in SAVED.leaves[:7]]
    extend(page, hidden)
    assert read(page) == [*SAVED.leaves[:5], *hidden[5:]]
    for other in (hidden[:6], [*hidden[:6], hidden[5]], []):
        with pytest.raises(SystemExit, match=r"04-02.json: \['2031-04-02', \d\] was another"):
            extend(page, other)
    assert read(page) == [*SAVED.leaves[:5], *hidden[5:]]
    assert read(page.with_suffix(".other")) == []
    heads = tmp_path / "heads.json"
    extend(heads, SAVED.heads)
    with pytest.raises(SystemExit, match=r"\[3\] was another"):
        extend(heads, [*SAVED.heads[:2], _another_head(2), *SAVED.heads[3:]])


def test_a_lost_key_is_a_fault_until_the_new_one_is_trusted() -> None:
    maker = LedgerMaker()
    maker.head()
    maker.leaf()
    maker.head(HeadKind.NEW_KEY)
    maker.leaf()
    maker.head()
    with pytest.raises(Fault, match="replaced key: head 2"):
        check(maker.saved)
    assert check(maker.saved, new_keys=(maker.key.public.hex(),)).startswith("no fault")


def test_a_wrong_public_key_is_a_fault() -> None:
    with pytest.raises(Fault, match="changed head: 1"):
        check(SAVED, key=SigningKey(9).public.hex())


def test_the_command_prints_the_fault_and_fails(tmp_path: Path) -> None:
    SAVED.save(tmp_path)
    assert verified(tmp_path)[0] == 0
    altered = SAVED.copy()
    edited(altered.leaves[5], "leaf", outcome="void")
    altered.save(tmp_path)
    code, printed = verified(tmp_path)
    assert code == 1
    assert "\nfault: changed" in printed, printed


_steps = st.lists(
    st.one_of(st.sampled_from([*HeadKind]).filter(lambda kind: kind is not HeadKind.NEW_KEY), st.booleans()),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(_steps)
def test_no_false_alarm(steps: list[HeadKind | bool]) -> None:
    maker = LedgerMaker()
    maker.head()
    for step in steps:
        maker.leaf(shown=step) if isinstance(step, bool) else maker.head(step)
    assert check(maker.saved).startswith("no fault")
