"""Tables of a page that move by themselves: read once for all browsers, rendered once per language, and sent
as the cells that have changed.

A `RowFeed` reads the rows of its tables at most once in `seconds`, while anybody watches; each read that
finds something new is a version. A `Board` has the rows as they are rendered for one variant of the page
(its language, and what else their text depends on), with the version at which each cell changed last. So what
has changed since any version is found without remembering browsers, and is encoded once for all of them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from secrets import token_hex
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from app.kit.background import leave

SECONDS = 0.5  #: how often the tables are read
_UNUSED_SECONDS = 60.0  #: a board, or the feed of a match, that nobody has used for so long is dropped

Tables = Mapping[str, Mapping[str, Any]]  #: table → key of a row → row, in the order of the page
Read = Callable[[], Awaitable[Tables]]


class RenderedRow(NamedTuple):
    """A row as HTML: the class of its element, and its cells."""

    css: str
    cells: Sequence[str]


Render = Callable[[Any, str, Any], RenderedRow]  #: of a row of a table, for a variant


class ShownRow(NamedTuple):
    """A row of a page."""

    key: str
    css: str
    cells: Sequence[str]


class TableChanges(msgspec.Struct, omit_defaults=True):
    """What has changed of a table. `rows`: by key the class, by index the changed cells (all cells of a row
    that is new), and how many cells there are. `order`: every key in order, if that has changed."""

    rows: dict[str, tuple[str, dict[int, str], int]]
    order: list[str] | None = None


class Changes(msgspec.Struct):
    """What has changed since an earlier version; `now` is the service's clock (Unix ms)."""

    version: str
    now: int
    tables: dict[str, TableChanges]


class _Cell(NamedTuple):
    html: str
    version: int


class _Row(msgspec.Struct):
    source: Any
    css: str
    cells: list[_Cell]
    version: int


class _Table(msgspec.Struct):
    rows: dict[str, _Row]
    order: tuple[str, ...] = ()
    ordered_at: int = 0


class Board:
    """The tables as one variant of the page shows them."""

    def __init__(self) -> None:
        self.begun = -1  #: the version with which it began; what was before is not known
        self._version = -1
        self._tables: dict[str, _Table] = {}

    def update(self, tables: Tables, version: int, render: Callable[[str, Any], RenderedRow]) -> None:
        """Render what is new in these tables, which are `version`."""
        if version == self._version:
            return
        if self.begun < 0:
            self.begun = version
        self._version = version
        for name, rows in tables.items():
            table = self._tables.setdefault(name, _Table({}))
            order = tuple(rows)
            if order != table.order:
                table.order, table.ordered_at = order, version
                table.rows = {key: table.rows[key] for key in order if key in table.rows}
            for key, source in rows.items():
                known = table.rows.get(key)
                if known is None or known.source != source:
                    table.rows[key] = _rendered(render(name, source), source, known, version)

    def rows(self, table: str) -> list[ShownRow]:
        """Every row of a table, in order."""
        found = self._tables[table]
        cells = ((key, found.rows[key]) for key in found.order)
        return [ShownRow(key, row.css, [cell.html for cell in row.cells]) for key, row in cells]

    def changes(self, since: int) -> dict[str, TableChanges]:
        """What has changed after version `since`; everything for a version from before the board began."""
        after = since if since >= self.begun else -1
        found = {name: _changes(table, after) for name, table in self._tables.items()}
        return {name: each for name, each in found.items() if each.rows or each.order is not None}


class RowFeed:
    """`render` is called once for each changed row and variant. `clock` is that of the pages (Unix ms)."""

    def __init__(
        self,
        read: Read,
        render: Render,
        clock: Callable[[], int],
        seconds: float = SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self._read, self._render, self._clock, self._monotonic = read, render, clock, monotonic
        self._epoch = token_hex(4)  # versions of another process, or of an earlier one, mean nothing here
        self._number = 0
        self._tables: Tables = {}
        self._reading: asyncio.Task[None] | None = None
        self._read_at = -1.0
        self._boards: dict[Hashable, tuple[float, Board]] = {}
        self._encoded: dict[tuple[Hashable, int], bytes] = {}

    async def board(self, variant: Hashable) -> tuple[str, Board]:
        """The tables as that variant shows them, at most `seconds` old, and their version. Raises what `read`
        raises."""
        await self._refresh()
        now = self._monotonic()
        self._boards = {
            key: (used, board)
            for key, (used, board) in self._boards.items()
            if now - used < _UNUSED_SECONDS or key == variant
        }
        _, board = self._boards.get(variant, (now, None))
        board = board or Board()
        self._boards[variant] = now, board
        board.update(self._tables, self._number, lambda table, row: self._render(variant, table, row))
        return self._version, board

    async def changes(self, variant: Hashable, since: str) -> tuple[str, bytes | None]:
        """The present version, and what has changed since another one as JSON (`Changes`); None where nothing
        has. Raises what `read` raises."""
        version, board = await self.board(variant)
        if since == version:
            return version, None
        number = self._known(since)
        key = variant, number
        if key not in self._encoded:
            found = Changes(version, self._clock(), board.changes(number))
            self._encoded[key] = msgspec.json.encode(found)
        return version, self._encoded[key]

    async def expire(self) -> None:
        """Read again before anything is shown; called after a change of what the tables show."""
        if self._reading is not None:  # it may have begun before the change
            await asyncio.wait([self._reading])
        self._read_at = -1.0

    @property
    def _version(self) -> str:
        return f"{self._epoch}.{self._number}"

    def _known(self, version: str) -> int:
        """The number of a version of this feed; -1 for any other text."""
        epoch, _, number = version.partition(".")
        known = epoch == self._epoch and number.isascii() and number.isdecimal() and len(number) < 16
        return int(number) if known else -1

    async def _refresh(self) -> None:
        """Read, unless that was done less than `seconds` ago; one read serves all who call meanwhile."""
        now = self._monotonic()
        if self._reading is None and self._read_at >= 0 and now - self._read_at < self.seconds:
            return
        if self._reading is None:
            self._read_at = now
            self._reading = asyncio.create_task(self._advance())
            leave(self._reading)
        # A client that leaves must not cancel the read that others wait for.
        await asyncio.shield(self._reading)

    async def _advance(self) -> None:
        try:
            tables = await self._read()
        except BaseException:
            self._read_at = -1.0
            raise
        finally:
            self._reading = None
        if not self._number or _differ(tables, self._tables):
            self._number += 1
            self._encoded.clear()
        self._tables = tables


class MatchFeeds:
    """One feed for each match, however many watch it; `feed_of` makes it."""

    def __init__(self, feed_of: Callable[[UUID], RowFeed]) -> None:
        self._feed_of = feed_of
        self._feeds: dict[UUID, tuple[float, RowFeed]] = {}

    def of(self, match_id: UUID) -> RowFeed:
        now = time.monotonic()
        _, feed = self._feeds.get(match_id) or (now, self._feed_of(match_id))
        used = {key: each for key, each in self._feeds.items() if now - each[0] < _UNUSED_SECONDS}
        self._feeds = used | {match_id: (now, feed)}
        return feed


def _differ(new: Tables, old: Tables) -> bool:
    """Whether any row, or the order of rows, is another one."""
    return any(rows != old.get(name) or list(rows) != list(old[name]) for name, rows in new.items())


def _rendered(row: RenderedRow, source: Any, known: _Row | None, version: int) -> _Row:
    old = known.cells if known else []
    cells = [
        old[index] if index < len(old) and old[index].html == html else _Cell(html, version)
        for index, html in enumerate(row.cells)
    ]
    return _Row(source, row.css, cells, version)


def _changes(table: _Table, since: int) -> TableChanges:
    rows = {
        key: (
            row.css,
            {index: cell.html for index, cell in enumerate(row.cells) if cell.version > since},
            len(row.cells),
        )
        for key, row in table.rows.items()
        if row.version > since
    }
    return TableChanges(rows, list(table.order) if table.ordered_at > since else None)
