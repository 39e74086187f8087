"""Pages that are made from the code say what the code is now: `nox -s pages` writes them anew."""

import ast
import re
from pathlib import Path

import msgspec
import pytest

from app.settings import Settings
from scripts.pages import configuration, figures, house
from scripts.pages.__main__ import DOCS, pages

APP = DOCS.parent / "app"


@pytest.mark.parametrize("name", ["configuration.md", "metrics.md", "architecture.svg"])
def test_a_page_is_what_the_code_says(name: str) -> None:
    assert (DOCS / name).read_text() == pages()[name]


def test_every_setting_has_its_line_and_words() -> None:
    rows = configuration.rows()
    assert [row[0] for row in rows] == [
        f"`{field.encode_name}`" for field in msgspec.structs.fields(Settings)
    ]
    assert [row for row in rows if not all(row)] == []


def test_every_metric_has_its_line_words_and_a_place_that_sets_it() -> None:
    rows = figures.rows()
    assert [row[0] for row in rows] == [f"`{name}`" for name in sorted(figures.registered())]
    assert [row for row in rows if not all(row)] == []


def test_metrics_are_made_in_one_file() -> None:
    """Another file's would be registered only where that file is imported, and missing from the page."""
    makers = {"Counter", "Gauge", "Histogram", "Summary", "Info", "Enum"}
    found = [
        str(path.relative_to(APP))
        for path in sorted(APP.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module == "prometheus_client"
        and makers & {alias.name for alias in node.names}
    ]
    assert found == ["kit/metrics.py"]


def test_the_picture_shows_every_room_and_what_it_imports() -> None:
    links, drawn = house.links_between_rooms(), house.picture()
    folders = {path.stem for path in APP.iterdir() if path.suffix == ".py" or _is_room(path)} - {"__init__"}
    channels = {f"channels.{path.name}" for path in (APP / "channels").iterdir() if _is_room(path)}
    assert set(links) == folders - {"channels"} | channels
    assert [room for room in links if f">{room}</text>" not in drawn] == []


def test_no_arrow_of_the_picture_points_up() -> None:
    rows = {room: level for level, row in enumerate(house.rows(house.links_between_rooms())) for room in row}
    links = house.links_between_rooms()
    assert [(room, known) for room in links for known in links[room] if rows[room] >= rows[known]] == []


def _is_room(path: Path) -> bool:
    return (path / "__init__.py").exists()


def test_packages_name_who_imports_them_and_what_they_import() -> None:
    links = house.links_between_rooms()
    told = {room: _note(room) for room in links}
    for room, note in told.items():
        if "Imported by" in note:
            assert _named(note, "Imported by") == {other for other in links if room in links[other]}, room
            assert "mports `" not in note or _named(note, "mports") == links[room], room
    assert len([note for note in told.values() if "Imported by" in note]) > 10


def _note(room: str) -> str:
    path = APP.joinpath(*room.split("."), "__init__.py")
    words = ast.get_docstring(ast.parse(path.read_text())) if path.exists() else None
    return " ".join((words or "").split())


def _named(note: str, verb: str) -> set[str]:
    """The names in quotes from the last `verb` to the end of its clause."""
    return set(re.findall(r"`([a-z.]+)`", re.split(r"; |\. |\.$", note.rpartition(verb)[2])[0]))
