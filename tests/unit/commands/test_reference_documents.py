"""Whatever a document holds, each of its rows is read or refused."""

import csv
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.commands import reference_documents
from app.commands.reference_documents import SUFFIXES, Parsed, parse_file, parse_rows
from app.kit.errors import Invalid

_NAMES = ("kind", "id", "name", "source", "team_a", "team_b", "event", "bo_type", "scheduled_at", "cancelled")
_FIELDS = (*_NAMES, "team", "players", "strength", "account", "teams", "category", "season", "external_id")
_KINDS = ("team", "player", "tournament", "category", "line_up", "fixture", "soccer_tournament", "stadium")
_texts = st.one_of(st.sampled_from((*_KINDS, "bo3", "acme", "2031-04-02T18:00:00Z", "true", "7")), st.text())
_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _texts),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)
_rows = st.lists(st.dictionaries(st.sampled_from(_FIELDS), _json, max_size=8), max_size=6)
_FIXTURE = {"kind": "fixture", "team_a": "A", "team_b": "B", "event": "Cup"}


def numbers(parsed: Parsed) -> set[object]:
    """The rows that were read."""
    read = [row.place[0] for row in parsed.entrants] + [one.row for one in parsed.line_ups]
    return {*read, *parsed.fixtures}


@given(_rows, st.booleans())
def test_each_row_is_read_or_refused(rows: list[dict[str, Any]], strict: bool) -> None:
    parsed = parse_rows(enumerate(rows, start=1), "acme", strict=strict)
    read, refused = numbers(parsed), {one.row for one in parsed.refused}
    assert read | refused == set(range(1, len(rows) + 1)) and not read & refused
    assert all(one.reason for one in parsed.refused)


@given(
    st.sampled_from(SUFFIXES),
    st.one_of(st.binary(max_size=200), _rows.map(lambda rows: json.dumps(rows).encode())),
)
def test_a_file_of_any_bytes_is_read_or_refused(suffix: str, body: bytes) -> None:
    with suppress(Invalid):
        parse_file(f"a{suffix}", body)


_CHANGING = ("id", "team_a", "bo_type", "scheduled_at", "cancelled", "id_a")
_given = st.dictionaries(
    st.sampled_from(_CHANGING),
    st.sampled_from(("f-1", "bo5", "1900000000000", "2031-04-02T18:00:00+02:00", "true", "77", "")),
)


@given(st.lists(_given, max_size=4))
def test_csv_means_what_json_does(changes: list[dict[str, str]]) -> None:
    """A number or a boolean is one where the field has one; an empty cell is a field left out."""
    rows = [_FIXTURE | {"id": f"f-{at}"} | change for at, change in enumerate(changes)]
    text = io.StringIO()
    writer = csv.DictWriter(text, ("kind", "team_b", "event", *_CHANGING))
    writer.writeheader()
    writer.writerows(rows)
    as_csv = parse_file("a.csv", text.getvalue().encode(), "acme")
    typed = [{name: _typed(name, value) for name, value in row.items() if value} for row in rows]
    as_json = parse_rows(enumerate(typed, start=2), "acme")
    assert as_csv.fixtures == as_json.fixtures
    assert {one.row for one in as_csv.refused} == {one.row for one in as_json.refused}


def _typed(name: str, value: str) -> object:
    if name in ("scheduled_at", "id_a") and value.isdecimal():
        return int(value)
    return value == "true" if name == "cancelled" and value == "true" else value


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_document_of_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr(reference_documents, "MAX_ROWS", 10)
    row: Mapping[str, str] = {"kind": "team", "name": "A"}
    lines = {".csv": "kind,name\n" + "team,A\n" * 40, ".jsonl": f"{json.dumps(row)}\n" * 40}
    with pytest.raises(Invalid, match="divide it"):
        parse_file(f"a{suffix}", lines[suffix].encode())


def test_rows_of_a_csv_file_are_numbered_by_line() -> None:
    parsed = parse_file("a.csv", b"kind,name\n\nteam,Ash\n\nstadium,Oak\n")
    assert ([row.place for row in parsed.entrants], [one.row for one in parsed.refused]) == ([(3,)], [5])


def test_blank_lines_are_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_documents, "MAX_ROWS", 2)
    row = json.dumps({"kind": "team", "name": "Ash"}) + "\n"
    assert numbers(parse_file("a.jsonl", f"\n\n\n{row}{row}".encode())) == {4, 5}
    with pytest.raises(Invalid, match="more than 2 rows"):
        parse_file("a.jsonl", (row * 3).encode())
