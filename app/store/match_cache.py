"""Matches and their markets as this process wrote them last, so that they are read again only after another
writer.

A transaction that changes a match or its markets writes the match's row, under its lock. So the row's version
(`xmin`, the number of the transaction that wrote it last) identifies one state of both: while it is that of a
transaction of our own, the database has what that one wrote. The query that locks a match compares
the version, and returns the state only where it differs. Nothing is cached of a transaction that was rolled
back, and nothing survives a lost connection: a server that was restored or replaced may use numbers again.

Used by `connections`, `transaction`, `matches` and `markets`; imports `domain`.
"""

from collections import OrderedDict
from typing import NamedTuple
from uuid import UUID

from app.domain.market import Book
from app.domain.match import Match


class StoredMatch(NamedTuple):
    """A match and all its markets in one version of its row."""

    version: str
    match: Match
    book: Book


class MatchCache:
    """What committed transactions of this process wrote: the `size` matches that were used last."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._stored: OrderedDict[UUID, StoredMatch] = OrderedDict()

    def find(self, match_id: UUID) -> StoredMatch | None:
        """The match in the version that we wrote, which may not be the present one."""
        found = self._stored.get(match_id)
        if found is not None:
            self._stored.move_to_end(match_id)
        return found

    def store(self, written: StoredMatch) -> None:
        """Replace what is cached of a match; one that is over is not needed any more."""
        self._stored.pop(written.match.id, None)
        if written.match.over:
            return
        self._stored[written.match.id] = written
        if len(self._stored) > self._size:
            self._stored.popitem(last=False)

    def clear(self) -> None:
        self._stored.clear()


class LockedMatches:
    """The use of a cache by one transaction, for the matches that it has locked."""

    def __init__(self, cache: MatchCache) -> None:
        self._cache = cache
        self._own_versions: dict[UUID, str] = {}
        self._present: dict[UUID, StoredMatch] = {}
        self._written: dict[UUID, StoredMatch] = {}

    def find(self, match_id: UUID) -> StoredMatch | None:
        """What is cached of a match, to be compared with its row."""
        return self._cache.find(match_id)

    def lock(self, match_id: UUID, own_version: str, present: StoredMatch | None) -> None:
        """Note that a match is locked. `own_version` is the one that its row gets if this transaction writes
        it; `present` is what is cached if the row still has that version."""
        self._own_versions[match_id] = own_version
        if present is not None:
            self._present[match_id] = present

    def book(self, match_id: UUID) -> Book | None:
        """The markets of a locked match as this transaction sees them; None where they must be read."""
        found = self._written.get(match_id) or self._present.get(match_id)
        return found.book if found else None

    def write(self, match: Match, book: Book) -> None:
        """Note what this transaction has written of a match."""
        version = self._own_versions.get(match.id)
        if version is not None:
            self._written[match.id] = StoredMatch(version, match, book)

    def commit(self) -> None:
        """Cache what was written, now that it is committed."""
        for written in self._written.values():
            self._cache.store(written)
