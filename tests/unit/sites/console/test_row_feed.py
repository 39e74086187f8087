"""Tables that move by themselves: what is sent makes of every page the one that a reload would show."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.errors import Unavailable
from app.sites.console.row_feed import Board, Changes, RenderedRow, RowFeed

Rows = dict[str, tuple[str, ...]]


def render(variant: Any, table: str, row: tuple[str, ...]) -> RenderedRow:
    return RenderedRow(f"row {row[0]}", [f"{variant}:{cell}" for cell in row])


class Source:
    """What the feed reads, and how often it did."""

    def __init__(self) -> None:
        self.rows: Rows = {}
        self.reads, self.now = 0, 0.0
        self.failing = False
        self.feed = RowFeed(self.read, render, lambda: 7, 1.0, lambda: self.now)

    async def read(self) -> Mapping[str, Rows]:
        self.reads += 1
        await asyncio.sleep(0)
        if self.failing:
            raise Unavailable("no database")
        return {"t": dict(self.rows)}

    async def show(self, rows: Rows) -> None:
        self.rows, self.now = rows, self.now + 1.0


class Page:
    """What a browser has of the table."""

    def __init__(self, version: str, board: Board) -> None:
        self.version = version
        shown = board.rows("t")
        self.order = [row.key for row in shown]
        self.cells = {row.key: list(row.cells) for row in shown}
        self.css = {row.key: row.css for row in shown}

    def apply(self, data: bytes) -> None:
        changes = msgspec.json.decode(data, type=Changes)
        self.version = changes.version
        for table in changes.tables.values():
            for key, (css, cells, count) in table.rows.items():
                self.css[key] = css
                own = self.cells.setdefault(key, [])
                own += [""] * (max(cells, default=-1) + 1 - len(own))
                for index, html in cells.items():
                    own[index] = html
                del own[count:]
            if table.order is not None:
                self.order = table.order
                self.cells = {key: self.cells[key] for key in table.order}
                self.css = {key: self.css[key] for key in table.order}


_CELLS = st.lists(st.sampled_from("xyz"), min_size=1, max_size=3).map(tuple)
_ROWS = st.dictionaries(st.sampled_from("abcd"), _CELLS, max_size=4)


@given(st.lists(st.tuples(_ROWS, st.booleans()), max_size=8))
async def test_what_is_sent_makes_the_page_that_a_reload_shows(steps: list[tuple[Rows, bool]]) -> None:
    source = Source()
    page = Page(*await source.feed.board("en"))
    for rows, watched in steps:
        await source.show(rows)
        if watched:
            _, data = await source.feed.changes("en", page.version)
            if data is not None:
                page.apply(data)
            fresh = Page(*await source.feed.board("en"))
            assert vars(fresh) == vars(page)


async def test_only_cells_that_changed_are_sent() -> None:
    source = Source()
    await source.show({"a": ("1", "2"), "b": ("3", "4")})
    version, _ = await source.feed.board("en")
    await source.show({"a": ("1", "5"), "b": ("3", "4")})
    _, data = await source.feed.changes("en", version)
    assert data is not None
    table = msgspec.json.decode(data, type=Changes).tables["t"]
    assert table.rows == {"a": ("row 1", {1: "en:5"}, 2)} and table.order is None
    assert (await source.feed.changes("en", version))[1] is data, "it is encoded once"


async def test_nothing_is_sent_where_nothing_changed() -> None:
    source = Source()
    await source.show({"a": ("1",)})
    version, _ = await source.feed.board("en")
    await source.show({"a": ("1",)})
    assert await source.feed.changes("en", version) == (version, None)


@pytest.mark.parametrize("since", ["", "nonsense", "12345678.1", "."])
async def test_a_page_of_another_process_is_sent_everything(since: str) -> None:
    source = Source()
    await source.show({"a": ("1", "2")})
    _, data = await source.feed.changes("en", since)
    assert data is not None
    table = msgspec.json.decode(data, type=Changes).tables["t"]
    assert table.order == ["a"] and table.rows["a"][1] == {0: "en:1", 1: "en:2"}


async def test_a_variant_that_begins_late_is_sent_whole() -> None:
    source = Source()
    await source.show({"a": ("1",)})
    version, _ = await source.feed.board("en")
    await source.show({"a": ("2",)})
    await source.feed.board("en")
    await source.show({"a": ("3",)})
    _, data = await source.feed.changes("ru", version)
    assert data is not None
    assert msgspec.json.decode(data, type=Changes).tables["t"].rows["a"][1] == {0: "ru:3"}


async def test_however_many_watch_there_is_one_read() -> None:
    source = Source()
    await source.show({"a": ("1",)})
    await asyncio.gather(*(source.feed.board(language) for language in ("en", "ru", "en")))
    assert source.reads == 1
    await source.feed.board("en")
    assert source.reads == 1, "what was read less than a second ago is shown"


async def test_a_failed_read_is_tried_again_at_once() -> None:
    source = Source()
    source.failing = True
    with pytest.raises(Unavailable):
        await source.feed.board("en")
    source.failing = False
    await source.feed.board("en")
    assert source.reads == 2


async def test_who_leaves_does_not_cancel_the_read_of_others() -> None:
    source = Source()
    await source.show({"a": ("1",)})
    first, second = (asyncio.create_task(source.feed.board("en")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    _, board = await second
    assert [row.key for row in board.rows("t")] == ["a"] and source.reads == 1


async def test_who_changes_something_sees_it_at_once() -> None:
    """Also where a read is under way that began before the change."""
    source = Source()
    await source.feed.board("en")
    source.rows = {"a": ("1",)}
    _, board = await source.feed.board("en")
    assert board.rows("t") == [], "it has been read just now"
    await source.feed.expire()
    _, board = await source.feed.board("en")
    assert [row.key for row in board.rows("t")] == ["a"]
    source.now += 1.0
    other = asyncio.ensure_future(source.feed.board("en"))
    await asyncio.sleep(0)
    source.rows = {"b": ("2",)}
    await source.feed.expire()
    _, board = await source.feed.board("en")
    assert [row.key for row in board.rows("t")] == ["b"]
    await other
