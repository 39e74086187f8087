"""Documents of reference data: rows of a `kind`, or a season of soccer; from a request, or a file.

A row is an object. Its kinds are those of `entrant_import`, soccer's with `soccer_` before them; `line_up`, a
team with all its players; and `fixture`. Each row is read on its own, so that one that is wrong is refused
and the others are imported.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from app.commands.entrant_import import NAMES_OF_LINKS, TABLES, Row, RowKind, row_of, season_rows
from app.commands.match_commands import BestOf, Moment, Number
from app.commands.soccer_season import SeasonFile, season_faults
from app.domain.reference_reports import Fixture, RefusedRow
from app.kit.compressed import decompressed
from app.kit.control_characters import contains_control_characters
from app.kit.errors import Field, Invalid
from app.kit.names import Name, explained
from app.store.entrants import folded

MAX_BYTES = 16 * 1024 * 1024  #: of a file, and of what is compressed in it
MAX_ROWS = 5_000  #: more would keep an ingest process from pricing for too long
SUFFIXES = (".json", ".jsonl", ".csv", ".json.gz", ".jsonl.gz", ".csv.gz")
_KINDS: dict[str, RowKind] = {kind: kind for kind in TABLES}
_ALL_KINDS = (*_KINDS, "line_up", "fixture")
_SEPARATOR = ";"  #: between the names in a cell
#: Where a message of the decoder, or of ours, names the field.
_FIELD = re.compile(r"(?:- at `\$\.?(?P<path>[^`]+)`|field `(?P<name>\w+)`|^(?P<own>\w+): )")
SourceName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,60}$")]


class ReferenceDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reference data of a `source`, the name of who provides it: `rows`, each an object with a `kind`
    (docs/reference-data.md), or soccer's `season` as openfootball publishes it, whose `file` tells the
    country."""

    source: SourceName | None = None
    rows: Annotated[tuple[dict[str, Any], ...], Meta(max_length=MAX_ROWS)] = ()
    season: SeasonFile | None = None
    file: Annotated[str, Meta(max_length=200)] = ""


class FixtureRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A match. `id` is the source's own; `scheduled_at` Unix ms, or ISO 8601 with an offset."""

    id: Name
    team_a: Name
    team_b: Name
    event: Name
    bo_type: BestOf = "bo1"
    scheduled_at: Moment | Annotated[datetime, Meta(tz=True)] | None = None
    id_a: Number | None = None
    id_b: Number | None = None
    tournament_id: Number | None = None
    cancelled: bool = False
    source: SourceName | None = None


class LineUpRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A team with all its players, by name."""

    team: Name
    players: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=50)]


class LineUp(msgspec.Struct, frozen=True):
    """A line-up, and the number of its row."""

    row: int
    team: str
    players: tuple[str, ...]


class Parsed(msgspec.Struct):
    """What a document holds, and what of it was refused already. The place of a row of `entrants` is its
    number; fixtures are by the number of their row."""

    entrants: list[Row] = []
    line_ups: list[LineUp] = []
    fixtures: dict[int, Fixture] = {}
    references: set[str] = set()  #: of the fixtures
    teams: set[str] = set()  #: of the line-ups, folded
    seasons: list[SeasonFile] = []
    refused: list[RefusedRow] = []

    def refuse(self, error: Invalid) -> None:
        """Drop the rows that an error names, and note them as refused; a season as a whole. Raises the error
        if it names none."""
        before = self._size
        for one in map(refused_row, error.fields):
            if one not in self.refused:  # a row of a line-up is wrong once for each player
                self.refused.append(one)
        gone = {_row_number(field.loc) for field in error.fields}
        self.entrants = [row for row in self.entrants if row.place[0] not in gone]
        self.line_ups = [one for one in self.line_ups if one.row not in gone]
        if 0 in gone:
            self.entrants = [row for row in self.entrants if isinstance(row.place[0], int)]
            self.seasons = []
        if self._size == before:
            raise error

    @property
    def _size(self) -> int:
        return len(self.entrants) + len(self.line_ups) + len(self.seasons)


def parse_document(document: ReferenceDocument) -> Parsed:
    """The rows of a document, numbered from 1."""
    parsed = parse_rows(enumerate(document.rows, start=1), document.source)
    if document.season is not None:
        _add_season(parsed, document.file, document.season)
    return parsed


def parse_file(name: str, body: bytes, source: str | None = None) -> Parsed:
    """What a file holds, by the ending of its name (`SUFFIXES`); raises `Invalid` if it cannot be read at
    all. `source` is for fixtures that name none."""
    plain = name.removesuffix(".gz")
    if plain != name:
        try:
            body = decompressed(body, MAX_BYTES)
        except ValueError as error:
            raise _unreadable(f"This is not what its name says, or too large: {error}.") from error
    if plain.endswith(".csv"):
        return parse_rows(_csv_rows(body), source, strict=False)
    if plain.endswith(".jsonl"):
        return _parse_lines(body, source)
    try:
        members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        if "matches" in members:
            parsed = Parsed()
            _add_season(parsed, name, msgspec.json.decode(body, type=SeasonFile))
            return parsed
        document = msgspec.json.decode(body, type=ReferenceDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(str(error)) from error
    return parse_document(document if document.source else replace(document, source=source))


def _add_season(parsed: Parsed, file: str, season: SeasonFile) -> None:
    """Add a season, unless one of its matches cannot be stored; those are numbered from 1."""
    if faults := season_faults(file, season):
        parsed.refused += [refused_row(replace(one, loc=_of_match(one.loc))) for one in faults]
        return
    parsed.seasons.append(season)
    parsed.entrants += season_rows(file, season)


def _of_match(place: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The place of a match in a season's file as that of a row."""
    numbers = [part + 1 for part in place if isinstance(part, int)]
    return (*numbers, *place[3:])


def _parse_lines(body: bytes, source: str | None) -> Parsed:
    rows: list[tuple[int, dict[str, Any]]] = []
    refused: list[RefusedRow] = []
    for number, line in enumerate(body.splitlines(), start=1):
        if line.strip():
            try:
                rows.append((number, msgspec.json.decode(line, type=dict[str, Any])))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                refused.append(RefusedRow(number, "", str(error)))
    parsed = parse_rows(rows, source)
    parsed.refused += refused
    return parsed


def _csv_rows(body: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a CSV file with a header: cells as text, lists where the field has one; empty cells are
    left out."""
    try:
        lines = csv.DictReader(io.StringIO(body.decode("utf-8-sig")), strict=True)
        names = lines.fieldnames or ()
        if "kind" not in names or len(set(names)) < len(names):
            raise _unreadable("The header has `kind` and names of fields, each once.")
        for cells in lines:
            number = lines.line_num  # a blank line is no row
            if None in cells:
                yield number, {"kind": "", "cells": "more than the header has"}
                continue
            yield number, {name: _cell(name, text) for name, text in cells.items() if text}
    except (csv.Error, UnicodeDecodeError) as error:
        raise _unreadable(f"This cannot be read as CSV in UTF-8: {error}") from error


def _cell(name: str, text: str) -> str | list[str]:
    """A cell as a value: names of several are divided by `;`."""
    if name in ("teams", "players", "competitors"):
        return [one.strip() for one in text.split(_SEPARATOR) if one.strip()]
    return text


def parse_rows(
    rows: Iterable[tuple[int, Mapping[str, Any]]], source: str | None, *, strict: bool = True
) -> Parsed:
    """Rows by number; with `strict` False texts stand for numbers and booleans, as in CSV."""
    parsed = Parsed()
    for count, (number, row) in enumerate(rows, start=1):
        if count > MAX_ROWS:
            raise _unreadable(f"It has more than {MAX_ROWS} rows: divide it.")
        try:
            _parse_row(parsed, number, row, source, strict)
        except msgspec.ValidationError as error:
            parsed.refused.append(refused_row(Field((number,), explained(str(error)), "value_error")))
        except Invalid as error:
            parsed.refused += [refused_row(field) for field in error.fields]
    return parsed


def _parse_row(parsed: Parsed, number: int, row: Mapping[str, Any], source: str | None, strict: bool) -> None:
    kind = row.get("kind")
    if kind not in _ALL_KINDS:
        what = f"The kinds are {', '.join(_ALL_KINDS)}."
        raise Invalid(Field((number, "kind"), what, "unknown_kind", kind))
    if contains_control_characters(row):
        raise msgspec.ValidationError("A text in it holds a control character")
    fields = {name: value for name, value in row.items() if name != "kind"}
    if kind == "fixture":
        one = msgspec.convert(fields, FixtureRow, strict=strict)
        parsed.fixtures[number] = _fixture(parsed, number, one, source)
    elif kind == "line_up":
        found = msgspec.convert(fields, LineUpRow, strict=strict)
        if folded(found.team) in parsed.teams:
            what = "A team has one line-up: this is its second."
            raise Invalid(Field((number, "team"), what, "repeated_team", found.team))
        parsed.teams.add(folded(found.team))
        parsed.line_ups.append(LineUp(number, found.team, found.players))
    else:
        parsed.entrants.append(row_of((number,), row if strict else _typed(kind, row), _KINDS))


def _fixture(parsed: Parsed, number: int, row: FixtureRow, source: str | None) -> Fixture:
    given = msgspec.structs.asdict(row)
    given["source"] = row.source or source
    if given["source"] is None:
        what = "Give the source: in the row, in the document, or with the command."
        raise Invalid(Field((number, "source"), what, "no_source"))
    if isinstance(row.scheduled_at, datetime):
        given["scheduled_at"] = _moment(number, row.scheduled_at)
    fixture = Fixture(**given)
    if fixture.reference in parsed.references:
        raise Invalid(Field((number, "id"), "This id occurs twice.", "repeated_id", fixture.id))
    parsed.references.add(fixture.reference)
    return fixture


def _moment(number: int, at: datetime) -> int:
    """A time in Unix ms; in UTC it may lie outside of the years that times have here."""
    try:
        return msgspec.convert(round(at.timestamp() * 1000), Moment)
    except msgspec.ValidationError as error:
        raise Invalid(Field((number, "scheduled_at"), str(error), "value_error", at.isoformat())) from error


def _typed(kind: RowKind, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with texts converted as the fields of its type want; others stay, to be refused."""
    types = {field.name: field.type for field in msgspec.structs.fields(TABLES[kind].type)}
    return {
        name: msgspec.to_builtins(msgspec.convert(value, types[name], strict=False))
        if name in types
        else value
        for name, value in row.items()
    }


def refused_row(field: Field) -> RefusedRow:
    """A wrong field as reports list it."""
    names = [str(part) for part in field.loc if isinstance(part, str)]
    number = _row_number(field.loc)
    if names and number:
        return RefusedRow(number, names[-1], field.msg, field.input)
    found = _FIELD.search(field.msg)
    if found is None:
        return RefusedRow(number, "", field.msg, field.input)
    named = found[found.lastgroup or 0]
    reason = field.msg[found.end() :] if found.lastgroup == "own" else field.msg
    return RefusedRow(number, NAMES_OF_LINKS.get(named, named), reason, field.input)


def _row_number(place: tuple[str | int, ...]) -> int:
    """The row of a place; 0 for the whole document."""
    return place[0] if place and isinstance(place[0], int) else 0


def _unreadable(what: str) -> Invalid:
    return Invalid(Field((), what, "file"))
