"""What a client stores from one run to the next, in one file that is always whole: a process may end between
any two writes."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from matchfeed_client.book import Book
from matchfeed_client.rest import ClientError

_SAVE_SECONDS = 1.0
T = TypeVar("T")


class StateFile:
    """The file at `path`; without one, nothing is stored."""

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else Path(path)
        self._saved_at = 0.0

    def load(self, read: Callable[[Any], T]) -> T | None:
        """What `read` makes of the file; None if there is none. Raises `ClientError` where it raises
        `ValueError`, `KeyError` or `TypeError`."""
        if self._path is None or not self._path.exists():
            return None
        try:
            return read(json.loads(self._path.read_text()))
        except (ValueError, KeyError, TypeError) as error:
            raise ClientError(f"{self._path} holds no book ({error!r}): move it away") from error

    def save(self, content: Callable[[], Any], *, at_once: bool = False) -> None:
        """Store the content, at most once a second."""
        if self._path is None:
            return
        if at_once or time.monotonic() - self._saved_at >= _SAVE_SECONDS:
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps(content()))
            new.replace(self._path)
            self._saved_at = time.monotonic()


class ChangesFile:
    """The file of a client without a queue: its book, and the number up to which it has everything; `match`
    as its options have it."""

    def __init__(self, path: str | Path | None, match: str | None) -> None:
        self._file, self._match = StateFile(path), match

    def resumed(self, book: Book | None, since: int | None) -> tuple[Book, int | None]:
        """Where the client begins: where that of the file ended, unless a book is given. Raises `ClientError`
        for a file of another client."""
        found = None if book is not None else self._file.load(self._read)
        book, since = found or (book or Book(), since)
        book.stale = True
        return book, since

    def _read(self, content: Any) -> tuple[Book, int | None]:
        if content["match"] != self._match:
            raise ValueError(f"it is of the match {content['match']}")
        return Book.from_json(content["book"], stale=True), int(content["since"])

    def save(self, book: Book, since: int | None, *, at_once: bool = False) -> None:
        """Store both. While the book is stale it may have a part of a snapshot: what is stored stays then."""
        if since and not book.stale:
            content = {"match": self._match, "since": since}
            self._file.save(lambda: content | {"book": book.to_json()}, at_once=at_once)
