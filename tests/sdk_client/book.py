"""What a user of an SDK has on offer: the messages as they come, compared by timestamp."""

from typing import Any

from scripts.consumer import CLOSED, Book


class SdkBook:
    """The reference client's book, without what SDKs do not have: sequence numbers, and messages that wait
    until a recovery is complete."""

    def __init__(self) -> None:
        self._book = Book()
        self._replayed: set[str] = set()
        self._since = 0

    def apply(self, root: Any, seq: int) -> None:
        """A message, its number for the comparison with the service alone."""
        self._book.apply(root, seq, 0)
        if root.get("request_id"):
            self._replayed.add(root.get("event_id"))

    def begin(self, at: int) -> None:
        """A recovery is requested (Unix ms)."""
        self._replayed, self._since = set(), at

    def complete(self) -> None:
        """What it did not replay is over, unless it is newer."""
        for match in self._book.offers.keys() - self._replayed:
            offers = self._book.offers[match]
            offers.update({key: (at, CLOSED) for key, (at, _) in offers.items() if at < self._since})

    @property
    def open(self) -> int:
        """How many markets are on offer, suspended ones too."""
        return sum(price != CLOSED for each in self._book.offers.values() for _, price in each.values())

    @property
    def seqs(self) -> dict[str, int]:
        """The number of the last message of each match."""
        return dict(self._book.seqs)

    def digest(self) -> dict[str, Any]:
        """What is on offer, as the self-check takes it."""
        return self._book.digest()
