"""One declaration for a struct that is stored as rows of a table: its columns, and how a row is read and
written, follow from it.

The struct's fields have the names of the columns. Columns that the struct has not (`beside`, such as
`match_id`) are given with each row and come first. The statement is SQL, with arrays: `statements` says why.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar

import msgspec
from piccolo.columns import Column
from piccolo.table import Table

from app.store.transaction import Row, Write

S = TypeVar("S", bound=msgspec.Struct)
Convert = Callable[[Any], object]
_TYPES = {"DOUBLE PRECISION": "float8"}


class Stored(msgspec.Struct, frozen=True):
    """How the values of a field are stored, where not as they are."""

    write: Convert
    read: Convert


class RowMapping(Generic[S]):
    """`struct` as rows of `table`, of which `key` is the primary key. Fields of the struct that the table has
    not are not stored. `lasting` columns keep the value with which their row was inserted.

    `columns` are those of the struct, to be selected; `names` their names, separated by commas.
    """

    def __init__(
        self,
        table: type[Table],
        struct: type[S],
        key: Sequence[str],
        *,
        beside: Sequence[str] = (),
        lasting: Sequence[str] = (),
        stored: Mapping[str, Stored] | None = None,
    ) -> None:
        stored = stored or {}
        known = {column._meta.name: column for column in table._meta.columns}
        self._struct = struct
        self._fields = [name for name in struct.__struct_fields__ if name in known and name not in beside]
        self._of_row, self._of_struct = itemgetter(*self._fields), attrgetter(*self._fields)
        self._by_place = _places(struct)[: len(self._fields)] == self._fields
        self.columns: list[Column] = [known[name] for name in self._fields]
        self.names = ", ".join(map(_quoted, self._fields))
        self._reads = [(at, stored[name].read) for at, name in enumerate(self._fields) if name in stored]
        self._writes = [(at, stored[name].write) for at, name in enumerate(self._fields) if name in stored]
        self._upsert = self._statement(table._meta.tablename, known, key, beside, lasting)

    def read(self, row: Row) -> S:
        """The struct of a row that has its columns; fields that are not stored have their defaults."""
        values = list(self._of_row(row))
        for at, read in self._reads:
            values[at] = read(values[at])
        if self._by_place:
            return self._struct(*values)
        return self._struct(**dict(zip(self._fields, values, strict=True)))

    def save(self, rows: Iterable[S], *beside: object) -> list[Write]:
        """The statement that inserts or updates the rows of these structs, none of which have one key; none
        without any."""
        values = [self._values(one) for one in rows]
        columns = [list(column) for column in zip(*values, strict=True)]
        return [Write(self._upsert, (*beside, *columns))] if values else []

    def _values(self, one: S) -> list[object]:
        values = list(self._of_struct(one))
        for at, write in self._writes:
            values[at] = write(values[at])
        return values

    def _statement(
        self,
        table: str,
        known: Mapping[str, Column],
        key: Sequence[str],
        beside: Sequence[str],
        lasting: Sequence[str],
    ) -> str:
        """From arrays: the text, and what it costs to parse, are those of one row, where Piccolo repeats the
        values of each row in the text, which is another one for each number of rows."""
        given = [f"${at}" for at in range(1, len(beside) + 1)]
        arrays = [f"${at}::{_type(known[name])}[]" for at, name in enumerate(self._fields, len(beside) + 1)]
        changing = [name for name in self._fields if name not in key and name not in lasting]
        changes = ", ".join(f"{_quoted(name)} = excluded.{_quoted(name)}" for name in changing)
        return (
            f"INSERT INTO {table} ({', '.join((*map(_quoted, beside), self.names))})"
            f" SELECT {', '.join((*given, '*'))} FROM unnest({', '.join(arrays)})"
            f" ON CONFLICT ({', '.join(map(_quoted, key))}) DO UPDATE SET {changes}"
        )


def _places(struct: type[msgspec.Struct]) -> list[str]:
    """The fields that can be given by their places."""
    parameters = signature(struct).parameters.values()
    return [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]


def _quoted(name: str) -> str:
    """A column's name in SQL, which may be a keyword, as `group` is."""
    return f'"{name}"'


def _type(column: Column) -> str:
    written = str(column.column_type)
    return _TYPES.get(written, written.lower())
