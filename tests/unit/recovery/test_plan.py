"""What a recovery tells of results, against random histories: who applies it ends where REST stands.

A client has heard a history up to some point, is cut off, comes back and recovers. It applies what is
replayed and then the live messages that it kept back. One client applies messages as they come, another one
goes by their timestamps, in whatever order they come: both must end with the results and the void bets of the
ledger.
"""

import random
from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.etree import ElementTree as ET

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.amqp.envelope import MatchMessage
from app.domain.market import Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.recovery.plan import ROLLED_BACK, SETTLED, latest_entries
from app.trading.engine import in_order
from tests.faults.fold import key_of, outcome_of, windowed
from tests.support.story import offer

Key = tuple[str, str, str]  #: match, market id, specifiers (of the bets of a window: with it)
Told = dict[Key, tuple[int, str]]  #: by key, the timestamp of the message that told it, and what it told
NUMBER, PRODUCT, MARKETS, STEP = 7, 2, range(1, 4), 10
STATUS = {Result.VOID: LedgerStatus.VOIDED, None: LedgerStatus.PENDING}


class Decided(msgspec.Struct, frozen=True):
    """Markets come to a result, whatever they had before; without one, theirs is taken back."""

    markets: frozenset[int]
    result: Result | None


class BetsVoided(msgspec.Struct, frozen=True):
    """The bets of a window are void on these markets; where they are already, that is taken back."""

    markets: frozenset[int]
    window: VoidWindow


Move = Decided | BetsVoided
numbers = st.frozensets(st.sampled_from(MARKETS), min_size=1)
windows = st.sampled_from([VoidWindow(1, 3), VoidWindow(2, 3), VoidWindow(2, 5)])
moves = st.lists(
    st.builds(Decided, numbers, st.none() | st.sampled_from(Result))
    | st.builds(BetsVoided, numbers, windows),
    max_size=14,
)


class History:
    """A match's ledger and what was published of it live, one transaction after another. `marks` say, for
    each number of transactions, how long the ledger was and the newest stamp."""

    def __init__(self, moves: Iterable[Move], *, may_take_bets_back: bool) -> None:
        self.ledger: list[LedgerEntry] = []
        self.live: list[list[bytes]] = []
        self.marks = [(0, 0)]
        self._may_take_bets_back = may_take_bets_back
        self._results: dict[int, Result | None] = dict.fromkeys(MARKETS)
        self._void: set[tuple[int, VoidWindow]] = set()
        for move in moves:
            self._happen(move)

    def _happen(self, move: Move) -> None:
        made = self._decide(move) if isinstance(move, Decided) else self._void_bets(move)
        stamp, published = self.marks[-1][1], list[bytes]()
        for (message, _), group in groupby(
            in_order(made), key=lambda entry: (entry.message, entry.void_window)
        ):
            stamp += STEP
            told = [replace(entry, id=len(self.ledger) + 1, at=stamp) for entry in group]
            self.ledger += told
            published.append(_live(MatchMessage(message, NUMBER, stamp, 0, entries=told)))
        self.live.append(published)
        self.marks.append((len(self.ledger), stamp))

    def _decide(self, move: Decided) -> Iterator[LedgerEntry]:
        for number in sorted(move.markets):
            before, self._results[number] = self._results[number], move.result
            if before is not None:
                yield _entry(number, before, None)
            if move.result is not None:
                yield _entry(number, None, move.result)

    def _void_bets(self, move: BetsVoided) -> Iterator[LedgerEntry]:
        for number in sorted(move.markets):
            back = (number, move.window) in self._void
            if back and not self._may_take_bets_back:
                continue
            self._void ^= {(number, move.window)}
            result = self._results[number]
            yield replace(_entry(number, result, result), void_window=move.window, window_rolled_back=back)

    def recovered(self, after: int, at: int, *, everything: bool) -> list[bytes]:
        """What a recovery since `after` tells after so many transactions, in its order."""
        length, stamp = self.marks[at]
        known = self.ledger[:length]
        present = _results(known)
        on_offer = [offer(number) for number in MARKETS if _key(offer(number).key) not in present]
        ledger = [entry for entry in known if entry.at > after]
        messages = [
            MatchMessage("odds_change", NUMBER, stamp + 1, 0, markets=on_offer),
            *latest_entries(NUMBER, 0, ledger, SETTLED),
            *(latest_entries(NUMBER, 0, ledger, ROLLED_BACK) if everything else ()),
        ]
        return [message.body(PRODUCT, "9") for message in messages]


def _entry(number: int, before: Result | None, after: Result | None) -> LedgerEntry:
    statuses = [STATUS.get(result, LedgerStatus.SETTLED) for result in (before, after)]
    return LedgerEntry(*offer(number).key, *statuses, after, "told by the test")


def _live(message: MatchMessage) -> bytes:
    root = ET.fromstring(message.body(PRODUCT, "9"))
    del root.attrib["request_id"]
    return ET.tostring(root)


def _key(key: tuple[int, str], window: VoidWindow | None = None) -> Key:
    about = windowed(key[1], window.start_time, window.end_time) if window else key[1]
    return f"od:match:{NUMBER}", str(key[0]), about


def _results(ledger: Iterable[LedgerEntry]) -> dict[Key, str]:
    """What REST's ledger says: its last entry on each market, and on the bets of each window."""
    found: dict[Key, str | None] = {}
    for entry in ledger:
        found[_key(entry.key)] = entry.result
        if entry.void_window:
            found[_key(entry.key, entry.void_window)] = None if entry.window_rolled_back else "void"
    return {key: str(state) for key, state in found.items() if state is not None}


def _heard(body: bytes) -> Iterator[tuple[Key, int, str]]:
    root = ET.fromstring(body)
    for market in root.iter("market"):
        state = "pending" if root.tag == "odds_change" else outcome_of(root.tag, market)
        yield key_of(root, market), int(root.get("timestamp", "0")), state


def as_they_come(messages: Iterable[bytes]) -> dict[Key, str]:
    told = {key: state for body in messages for key, _, state in _heard(body)}
    return {key: state for key, state in told.items() if state != "pending"}


def by_timestamp(messages: Iterable[bytes]) -> dict[Key, str]:
    told: Told = {}
    for body in messages:
        for key, at, state in _heard(body):
            told[key] = max(told.get(key, (0, "")), (at, state))
    return {key: state for key, (_, state) in told.items() if state != "pending"}


@given(moves, st.booleans(), st.data())
def test_a_tenant_that_recovers_ends_where_rest_stands(
    happened: list[Move], everything: bool, data: st.DataObject
) -> None:
    """The canonical recovery (not `everything`) tells no rollbacks: there no bets are taken back."""
    history = History(happened, may_take_bets_back=everything)
    heard, bound, read = sorted(data.draw(st.integers(0, len(happened))) for _ in range(3))
    after = max(1, history.marks[heard][1] - data.draw(st.integers(0, 5)) * STEP)
    messages = [
        *(body for published in history.live[:heard] for body in published),
        *history.recovered(after, read, everything=everything),
        *(body for published in history.live[bound:] for body in published),
    ]
    expected = _results(history.ledger)
    assert as_they_come(messages) == expected
    random.Random(len(messages)).shuffle(messages)
    assert by_timestamp(messages) == expected


@given(moves)
def test_voids_of_bets_do_not_change_what_the_ledger_says_of_a_market(happened: list[Move]) -> None:
    """Who ignores windows reads the results that are."""
    ledger = History(happened, may_take_bets_back=True).ledger
    last = {entry.key: entry for entry in ledger}
    for key, entry in {entry.key: entry for entry in ledger if not entry.void_window}.items():
        assert (last[key].new_status, last[key].result) == (entry.new_status, entry.result)


@given(moves, st.integers(0, 200))
def test_every_market_and_every_window_is_told_once(happened: list[Move], after: int) -> None:
    ledger = History(happened, may_take_bets_back=True).ledger
    since = [entry for entry in ledger if entry.at > after]
    told = [
        (entry.key, entry.void_window)
        for messages in (SETTLED, ROLLED_BACK)
        for message in latest_entries(NUMBER, 0, since, messages)
        for entry in message.entries
    ]
    assert len(told) == len(set(told))
    assert set(told) == {(entry.key, entry.void_window) for entry in since}


def test_an_older_rollback_told_after_the_newer_result_would_undo_it() -> None:
    """Why none is told: the specification wants rollbacks after results, and clients apply what comes."""
    one = frozenset({1})
    history = History([Decided(one, Result.WON), Decided(one, Result.LOST)], may_take_bets_back=True)
    rollback = next(entry for entry in history.ledger if entry.message == "rollback_bet_settlement")
    replay = history.recovered(1, 2, everything=True)
    assert as_they_come(replay) == {_key(offer(1).key): "lost"}
    late = MatchMessage(rollback.message, NUMBER, rollback.at, 0, entries=[rollback]).body(PRODUCT, "9")
    assert as_they_come([*replay, late]) == {}
