"""Our client with one fault each, as clients of others have them.

`python -m tests.certification.mutants NAME` runs the reporting client with that fault.

`catches` are accidents of which one at least must be failed, the first wrong market being one of which
`yours` and `ours` say what they do here (regular expressions; the text of the verdict, where a client is
judged by what it does).
"""

import asyncio
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from matchfeed_client import book, client, reporting, rest, results
from matchfeed_client import messages as m

from app.sandbox.certification.verdicts import Verdict

_OPEN, _SUSPENDED, _ABSENT = r"open at [\d.]+", "suspended", "not on offer"
_PAID_TWICE = r"(settled (won|lost)|voided), paid 2 times"


@dataclass(frozen=True)
class Mutant:
    apply: Callable[[], None]
    catches: tuple[str, ...]
    channel: str = "amqp"
    yours: str = ".*"
    ours: str = ".*"
    text: str = ".*"

    def caught(self, verdict: Verdict) -> bool:
        """Whether the verdict is the one that this fault deserves."""
        if verdict.outcome != "failed" or not re.search(self.text, verdict.text):
            return False
        if (self.yours, self.ours) == (".*", ".*"):
            return True
        first = verdict.wrong[0] if verdict.wrong else None
        return (
            first is not None
            and bool(first.messages)
            and bool(re.fullmatch(self.yours, first.yours))
            and bool(re.fullmatch(self.ours, first.ours))
        )


MUTANTS: dict[str, Mutant] = {}


def mutant(*catches: str, **expected: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def declare(apply: Callable[[], None]) -> Callable[[], None]:
        MUTANTS[apply.__name__.replace("_", "-")] = Mutant(apply, catches, **expected)
        return apply

    return declare


@mutant("gap", yours=_OPEN, ours=_SUSPENDED)
def ignores_x_prev_seq() -> None:
    applied = book.Book._apply
    _replace(book.Book, "_apply", lambda self, message, seq, previous: applied(self, message, seq, 0))


@mutant("replay-late", "replay-of-another", yours=rf"{_OPEN}|{_SUSPENDED}|{_ABSENT}")
def applies_a_replay_over_newer_odds() -> None:
    received = book.Book._receive

    def receive(self: book.Book, message: Any, seq: int, previous: int) -> list[Any]:
        if isinstance(message, m.OddsChange) and message.request_id not in (None, self.recovery):
            offers = self.offers.setdefault(message.event_id, {})
            for key in offers:
                offers[key] = book.Offer(message.timestamp, book.State.CLOSED)
            offers.update(book._news(message))
            return [message]
        return received(self, message, seq, previous)

    _replace(book.Book, "_receive", receive)


@mutant("rollback-held", yours="settled (won|lost)", ours="pending")
def forgets_rollbacks() -> None:
    received = results.Results.receive

    def receive(self: results.Results, message: Any) -> None:
        if not isinstance(message, m.RollbackBetSettlement | m.RollbackBetCancel):
            received(self, message)

    _replace(results.Results, "receive", receive)


@mutant("rolled-back-while-away", yours="settled (won|lost)", ours="pending")
def forgets_rollbacks_that_are_not_replayed() -> None:
    _replace(results.Results, "_reopen", lambda self, message: None)


@mutant("repeated", "repeated-later", yours=_PAID_TWICE, ours="settled (won|lost)|voided")
def settles_twice() -> None:
    def put(self: results.Results, key: Any, at: int, status: str, outcome: str | None = None) -> None:
        known = self.markets.setdefault(key, results.MarketResult())
        known.paid = known.paid + 1 if status != results.PENDING else 0
        known.at, known.status, known.outcome = at, status, outcome

    _replace(results.Results, "_set", put)


@mutant("void-window", yours="pending|settled (won|lost)", ours=r".*bets void from \d+ to \d+")
def drops_void_windows() -> None:
    _replace(results.Results, "_set_window", lambda self, *_: None)


@mutant("void-window-settled", yours="voided", ours=r"settled (won|lost), bets void from \d+ to \d+")
def takes_a_window_for_the_market() -> None:
    _replace(results, "_window", lambda message: None)


@mutant("void-window-rolled-back", yours=r".*bets void from \d+ to \d+", ours="pending|settled (won|lost)")
def never_withdraws_a_window() -> None:
    put = results.Results._set_window

    def only_void(self: results.Results, key: Any, window: Any, at: int, void: bool) -> None:
        if void:
            put(self, key, window, at, void)

    _replace(results.Results, "_set_window", only_void)


@mutant("void", yours="pending", ours="voided")
def ignores_voids() -> None:
    received = results.Results.receive

    def receive(self: results.Results, message: Any) -> None:
        if not isinstance(message, m.BetCancel):
            received(self, message)

    _replace(results.Results, "receive", receive)


@mutant("play", yours=rf"{_OPEN}|{_SUSPENDED}|{_ABSENT}", ours=rf"{_OPEN}|{_SUSPENDED}|{_ABSENT}")
def compares_seconds() -> None:
    news = book._news

    def coarse(message: Any) -> Any:
        for key, offer in news(message):
            yield key, offer._replace(timestamp=offer.timestamp // 1000 * 1000 + 999)

    _replace(book, "_news", coarse)


@mutant("repeated-later", "disorder", yours=rf"{_OPEN}|{_SUSPENDED}", ours=rf"{_OPEN}|{_SUSPENDED}|{_ABSENT}")
def applies_in_order_of_arrival() -> None:
    def apply(self: book.Book, message: Any, seq: int, previous: int) -> None:
        match = message.event_id
        if message.request_id is None and previous > self._seqs.get(match, 0):
            self.suspend(match)
        self._seqs[match] = max(self._seqs.get(match, 0), seq)
        self._replayed.add(match)
        self.offers.setdefault(match, {}).update(book._news(message))

    _replace(book.Book, "_apply", apply)


@mutant("disconnected", "disconnected-briefly", yours=_OPEN)
def stays_open_while_disconnected() -> None:
    _replace(client.Client, "_suspend", lambda self: None)


@mutant("subscribed-0", yours=_OPEN, ours=_SUSPENDED)
def ignores_subscribed_0() -> None:
    received = book.Book._receive

    def receive(self: book.Book, message: Any, seq: int, previous: int) -> list[Any]:
        return [message] if isinstance(message, m.Alive) else received(self, message, seq, previous)

    _replace(book.Book, "_receive", receive)


@mutant("silence", yours=_OPEN, ours=_SUSPENDED)
def does_not_notice_silence() -> None:
    client._SILENCE_SECONDS = 1e6


@mutant("recovery-of-another", yours=f"{_OPEN}|{_SUSPENDED}|{_ABSENT}")
def believes_the_end_of_any_recovery() -> None:
    received = book.Book._receive

    def receive(self: book.Book, message: Any, seq: int, previous: int) -> list[Any]:
        if isinstance(message, m.SnapshotComplete) and message.request_id != self.recovery:
            for offers in self.offers.values():
                for key, offer in offers.items():
                    if offer.state is book.State.SUSPENDED:
                        offers[key] = book.Offer(offer.timestamp, book.State.OPEN, book.Decimal(2))
            self.recovery = ""
            return [message]
        return received(self, message, seq, previous)

    _replace(book.Book, "_receive", receive)


@mutant("gap-noticed-late", "settlement-lost", yours="pending", ours="settled (won|lost)")
def recovers_from_its_newest_message() -> None:
    client._OVERLAP_MILLIS = 0
    _replace(book.Book, "_go_back", lambda self, match, now: None)
    begun = book.Book.begin_recovery

    def begin(self: book.Book, number: str) -> None:
        newest = (offer.timestamp for offers in self.offers.values() for offer in offers.values())
        self.after = max(newest, default=self.after)
        begun(self, number)

    _replace(book.Book, "begin_recovery", begin)


@mutant("recovery-409", text="requested|still wrong|waited|must be")
def gives_up_after_a_refusal() -> None:
    request_recovery = rest.Rest.request_recovery

    async def once(self: rest.Rest, after: int, number: str) -> rest.Answer:
        answer = await request_recovery(self, after, number)
        return answer if answer.accepted else rest.Answer(accepted=False, wait=1e6)

    _replace(rest.Rest, "request_recovery", once)


@mutant("recovery-429", text="Retry-After")
def ignores_retry_after() -> None:
    request_recovery = rest.Rest.request_recovery

    async def at_once(self: rest.Rest, after: int, number: str) -> rest.Answer:
        answer = await request_recovery(self, after, number)
        return answer if answer.accepted else rest.Answer(accepted=False, wait=0.2)

    _replace(rest.Rest, "request_recovery", at_once)


@mutant("restarted", "killed", yours="pending", ours=".*(settled|voided).*")
def stores_nothing_on_disk() -> None:
    client._OVERLAP_MILLIS = 0
    _replace(reporting, "load_results", lambda saved: results.Results())
    _replace(client.Client, "_loaded", lambda self: book.Book(after=client.time.time_ns() // 1_000_000))


@mutant("unknown-message", text="ended by itself")
def ends_at_an_unknown_message() -> None:
    decode = client.decode

    def strict(body: bytes) -> Any:
        found = decode(body)
        if found is None:
            raise SystemExit("an unknown message")
        return found

    _replace(client, "decode", strict)


@mutant("too-late", channel="http", yours="pending", ours=".*(settled|voided).*")
def reads_no_ledger_after_a_snapshot() -> None:
    async def nothing(*_: object) -> None:
        return

    _replace(reporting, "_read_ledger", nothing)


@mutant("refused-503", channel="http", yours=_OPEN, ours=_SUSPENDED)
def offers_what_may_be_stale() -> None:
    _replace(book.Book, "stale", property(lambda self: False, lambda self, value: None))


@mutant("too-late", "snapshot-cut", channel="events", ours=_ABSENT)
def keeps_what_a_snapshot_omits() -> None:
    _replace(book.Book, "_close_others", lambda self, at: None)


@mutant("refused-429", channel="http", text="Retry-After")
def ignores_retry_after_of_changes() -> None:
    def refuse(response: Any) -> None:
        if not response.is_success:
            raise rest.Retry("refused", 0.1)

    _replace(rest, "_raise_refusal", refuse)


@mutant("silent", channel="events", yours=_OPEN, ours=_SUSPENDED)
def waits_for_ever() -> None:
    rest._SILENCE_SECONDS = 1e6


@mutant("rollback-held", channel="websocket", yours="settled (won|lost)", ours="pending")
def forgets_rollbacks_of_the_stream() -> None:
    folded = results.Results.fold_entry

    def fold(self: results.Results, entry: Any) -> None:
        if entry["new_status"] != results.PENDING or entry.get("void_window"):
            folded(self, entry)

    _replace(results.Results, "fold_entry", fold)


@mutant("void-window", channel="websocket", yours="pending|settled (won|lost)", ours=r".*bets void from.*")
def drops_void_windows_of_the_stream() -> None:
    folded = results.Results.fold_entry

    def fold(self: results.Results, entry: Any) -> None:
        if not entry.get("void_window"):
            folded(self, entry)

    _replace(results.Results, "fold_entry", fold)


@mutant("suspended", channel="events", yours=_OPEN, ours=_SUSPENDED)
def sells_what_is_suspended() -> None:
    folded = book.Book.fold

    def fold(self: book.Book, frame: Any) -> None:
        if frame["type"] != "market.suspended":
            folded(self, frame)

    _replace(book.Book, "fold", fold)


@mutant("snapshot-cut", channel="events", yours=_ABSENT, ours=rf"{_OPEN}|{_SUSPENDED}")
def takes_a_part_of_a_snapshot_for_the_whole() -> None:
    folded = book.Book.fold

    def fold(self: book.Book, frame: Any) -> None:
        if frame["meta"].get("snapshot") and not self._mentioned:
            self.offers = {}
        folded(self, frame)

    _replace(book.Book, "fold", fold)


@mutant("too-late", channel="http", yours=_PAID_TWICE, ours="settled (won|lost)|voided")
def pays_what_the_ledger_repeats() -> None:
    settles_twice()
    fold_entry = results.Results.fold_entry

    async def read_all(rest: rest.Rest, known: results.Results) -> None:
        async for entry in rest.settlements(0):
            fold_entry(known, entry)

    _replace(reporting, "_read_ledger", read_all)


@mutant("names", yours="pending|settled (won|lost)", ours="voided")
def reads_xml_by_pattern() -> None:
    decode = client.decode

    def plain(body: bytes) -> Any:
        return None if b"&" in body else decode(body)

    _replace(client, "decode", plain)


@mutant("play", channel="websocket", yours=rf"{_OPEN}|{_SUSPENDED}", ours=_ABSENT)
def keeps_what_has_ended() -> None:
    folded = book.Book.fold

    def fold(self: book.Book, frame: Any) -> None:
        if not frame["type"].startswith("market.") or frame["data"]["status"] in book._STATES:
            folded(self, frame)

    _replace(book.Book, "fold", fold)


def _replace(where: Any, name: str, new: object) -> None:
    assert hasattr(where, name) or where is book.Book, name
    setattr(where, name, new)


if __name__ == "__main__":
    MUTANTS[sys.argv[1]].apply()
    asyncio.run(reporting.main())
