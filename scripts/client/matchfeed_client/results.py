"""Results: what every market's bets are to be paid by, once each, whatever comes twice, late or again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from matchfeed_client import messages as m
from matchfeed_client.decoding import Message

PENDING, SETTLED, VOIDED = "pending", "settled", "voided"
Window = tuple[int, int]  #: from when until when (Unix ms) bets were placed that are void


class MarketKey(NamedTuple):
    """A market, with its match as messages name it (`od:match:<n>`)."""

    match: str
    market: int
    specifiers: str


@dataclass(slots=True)
class MarketResult:
    """What holds: `status` is `settled` (`outcome` is `won` or `lost`), `voided` or `pending`.

    `at` is the timestamp of the message that said so, or the `id` of the ledger's entry. `paid` counts the
    settlements and refunds that have been paid and not taken back: 0 or 1. Bets that were placed in a window
    of `windows` are void if its value is true.
    """

    at: int = 0
    status: str = PENDING
    outcome: str | None = None
    paid: int = 0
    windows: dict[Window, tuple[int, bool]] = field(default_factory=dict)

    @property
    def void_windows(self) -> list[Window]:
        return sorted(window for window, (_, void) in self.windows.items() if void)


class Results:
    """`markets` has every market that ever had a result. Feed it all that `Client` yields (`receive`), or the
    frames of changes and the rows of the ledger (`fold`)."""

    def __init__(self) -> None:
        self.markets: dict[MarketKey, MarketResult] = {}
        self.last_id = 0

    def receive(self, message: Message) -> None:
        """Fold in a message that was applied to the book."""
        if isinstance(message, m.BetSettlement):
            for settled in message.outcomes.market:
                outcome = settled.outcome[0].result
                self._set(_key(message, settled), message.timestamp, SETTLED, _outcome(outcome))
        elif isinstance(message, m.BetCancel | m.RollbackBetCancel | m.RollbackBetSettlement):
            void = isinstance(message, m.BetCancel)
            window = _window(message)
            for market in message.market:
                key = _key(message, market)
                if window is None:
                    self._set(key, message.timestamp, VOIDED if void else PENDING)
                else:
                    self._set_window(key, window, message.timestamp, void)
        elif isinstance(message, m.OddsChange) and message.request_id is not None:
            self._reopen(message)

    def _reopen(self, message: m.OddsChange) -> None:
        """What a recovery lists as on offer has no result any more: its rollback may have been missed."""
        on_offer = (m.MarketStatus.ACTIVE, m.MarketStatus.SUSPENDED)
        for market in message.odds.market:
            key = _key(message, market)
            if market.status in on_offer and key in self.markets:
                self._set(key, message.timestamp, PENDING)

    def fold(self, frame: Mapping[str, Any]) -> None:
        """Fold in a frame; only those of type `bet_settlement` are about results."""
        if frame["type"] == "bet_settlement":
            self.fold_entry(frame["data"])

    def fold_entry(self, entry: Mapping[str, Any]) -> None:
        """Fold in an entry of the ledger, as `GET /cs2/v1/settlements` has it."""
        key = MarketKey(entry["match_urn"], entry["market_id"], entry["specifiers"])
        if window := entry.get("void_window"):
            ends = window["start_time"], window["end_time"]
            self._set_window(key, ends, entry["id"], not window["rolled_back"])
        outcome = entry["outcome"] if entry["new_status"] == SETTLED else None
        self._set(key, entry["id"], entry["new_status"], outcome)
        self.last_id = max(self.last_id, entry["id"])

    def _set(self, key: MarketKey, at: int, status: str, outcome: str | None = None) -> None:
        known = self.markets.setdefault(key, MarketResult())
        if at <= known.at:
            return
        if (status, outcome) != (known.status, known.outcome):
            known.paid -= known.status != PENDING  # what was paid by another result is taken back
            known.paid += status != PENDING
        known.at, known.status, known.outcome = at, status, outcome

    def _set_window(self, key: MarketKey, window: Window, at: int, void: bool) -> None:
        windows = self.markets.setdefault(key, MarketResult()).windows
        if at > windows.get(window, (0, False))[0]:
            windows[window] = at, void

    def rows(self) -> Iterator[dict[str, Any]]:
        """What holds of each market, as JSON."""
        for key, result in self.markets.items():
            if result.status != PENDING or result.void_windows:
                yield {
                    **key._asdict(),
                    "status": result.status,
                    "outcome": result.outcome,
                    "paid": result.paid,
                    "void_windows": result.void_windows,
                }

    def to_json(self) -> list[list[Any]]:
        """Everything, for storage."""
        return [
            [*key, each.at, each.status, each.outcome, each.paid, [[*w, *v] for w, v in each.windows.items()]]
            for key, each in self.markets.items()
        ]

    @classmethod
    def from_json(cls, stored: list[list[Any]]) -> "Results":
        """What `to_json` returned."""
        results = cls()
        for match, market, specifiers, at, status, outcome, paid, windows in stored:
            held = {(start, end): (when, void) for start, end, when, void in windows}
            key = MarketKey(match, market, specifiers)
            results.markets[key] = MarketResult(at, status, outcome, paid, held)
        return results


def _outcome(result: m.Result) -> str:
    return "won" if result is m.Result.WON else "lost"


def _key(message: Any, market: Any) -> MarketKey:
    return MarketKey(message.event_id, market.id, market.specifiers or "")


def _window(message: Any) -> Window | None:
    start, end = getattr(message, "start_time", None), getattr(message, "end_time", None)
    return None if start is None or end is None else (start, end)
