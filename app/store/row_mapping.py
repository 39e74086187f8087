"""One declaration for a struct that is stored as rows of a table: its columns, and how a row is read and
written, follow from it.

The struct's fields have the names of the columns. Columns that the struct lacks (`beside`, such as
`match_id`) are passed with each row and come first. Many rows are written by SQL, from arrays:
`statements.writes` says why.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from inspect import signature
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar, get_args

import msgspec
from piccolo.columns import Column
from piccolo.query import Insert, Update
from piccolo.table import Table

from app.store.prepared import prepared
from app.store.sql import columns_of
from app.store.transaction import Row, Statement, Write

S = TypeVar("S", bound=msgspec.Struct)
Convert = Callable[[Any], object]
_TYPES = {"DOUBLE PRECISION": "float8"}


class Stored(msgspec.Struct, frozen=True):
    """How the values of a field are converted where they are not stored as they are. An enumeration needs
    none."""

    write: Convert
    read: Convert


class RowMapping(Generic[S]):
    """`struct` as rows of `table`, of which `key` is the primary key. Fields that the table lacks are not
    stored. `lasting` columns keep the value with which their row was inserted. `derived` are
    columns that are written for others to select by, and not read.

    `columns` are those of the struct, to be selected; `names` their names, separated by commas.
    """

    def __init__(
        self,
        table: type[Table],
        struct: type[S],
        key: Sequence[str] = ("id",),
        *,
        beside: Sequence[str] = (),
        lasting: Sequence[str] = (),
        stored: Mapping[str, Stored] | None = None,
        derived: Mapping[str, Callable[[S], object]] | None = None,
    ) -> None:
        known = {column._meta.name: column for column in table._meta.columns}
        stored = _enumerations(struct) | dict(stored or {})
        self._table, self._struct, self._key, self._beside = table, struct, key, beside
        others = {*beside, *(derived or {})}
        self._fields = [name for name in struct.__struct_fields__ if name in known and name not in others]
        self._prefix = f"{table._meta.tablename}_"
        self._of_row, self._of_struct = _of(itemgetter, self._fields), _of(attrgetter, self._fields)
        self._of_joined = _of(itemgetter, [self._prefix + name for name in self._fields])
        self._by_place = _places(struct)[: len(self._fields)] == self._fields
        self.columns: list[Column] = [known[name] for name in self._fields]
        self.names = ", ".join(map(_quoted, self._fields))
        self._reads = [(at, stored[name].read) for at, name in enumerate(self._fields) if name in stored]
        self._writes = [(at, stored[name].write) for at, name in enumerate(self._fields) if name in stored]
        self._derive = list((derived or {}).values())
        self._written = [*self._fields, *(derived or {})]
        self._changing = [name for name in self._written if name not in key and name not in lasting]
        self._upsert = self._upsert_of_arrays(known)
        self._insert, self._update = prepared(self._build_insert), prepared(self._build_update)

    def read(self, row: Row) -> S:
        """The struct of a row that has its columns; fields that are not stored have their defaults."""
        found = self._of_row(row)
        if self._reads:
            found = list(found)
            for at, read in self._reads:
                found[at] = read(found[at])
        if self._by_place:
            return self._struct(*found)
        return self._struct(**dict(zip(self._fields, found, strict=True)))

    def joined(self, table: Any) -> list[Column]:
        """`columns` of a join to the table, for `read_joined`."""
        return [getattr(table, name).as_alias(self._prefix + name) for name in self._fields]

    def read_joined(self, row: Row) -> S:
        """`read`, of a row that has the columns of `joined` beside others."""
        return self.read(dict(zip(self._fields, self._of_joined(row), strict=True)))

    def save(self, rows: Iterable[S], *beside: object) -> list[Write]:
        """The statement that inserts or updates the rows of these structs, no two with the same key; no
        statement without structs."""
        columns = columns_of(map(self._values, rows))
        return [Write(self._upsert, (*beside, *columns))] if columns else []

    def insert(self, one: S, *beside: object, unless_known: bool = False) -> Statement:
        """The query that inserts the row of this struct; other columns have their defaults. With
        `unless_known` it inserts nothing where a unique index has the row's values already."""
        return self._insert(*beside, *self._values(one), unless_known=unless_known)

    def update(self, one: S, *names: str) -> Statement:
        """The query that writes these fields of the struct into its row, or without names all that may
        change."""
        values = dict(zip(self._written, self._values(one), strict=True))
        changed = names or tuple(self._changing)
        return self._update(*(values[name] for name in (*self._key, *changed)), names=changed)

    def _values(self, one: S) -> list[object]:
        values = list(self._of_struct(one))
        for at, write in self._writes:
            values[at] = write(values[at])
        if self._derive:
            values += [derive(one) for derive in self._derive]
        return values

    def _build_insert(self, *values: object, unless_known: bool = False) -> Insert[Any]:
        row: dict[str, Any] = dict(zip((*self._beside, *self._written), values, strict=True))
        query = self._table.insert(self._table(**row))
        return query.on_conflict(action="DO NOTHING") if unless_known else query

    def _build_update(self, *values: object, names: Sequence[str]) -> Update[Any]:
        column = self._table._meta.get_column_by_name
        own = [column(name) == value for name, value in zip(self._key, values, strict=False)]
        changed: dict[Column | str, Any] = dict(
            zip(map(column, names), values[len(self._key) :], strict=True)
        )
        return self._table.update(changed).where(*own)

    def _upsert_of_arrays(self, known: Mapping[str, Column]) -> str:
        """The statement that writes rows from arrays. Its text is the same for any number of rows, and as
        cheap to parse as for one; Piccolo would repeat the values of each row in the text."""
        given = [f"${at}" for at in range(1, len(self._beside) + 1)]
        first = len(given) + 1
        arrays = [f"${at}::{_type(known[name])}[]" for at, name in enumerate(self._written, first)]
        changes = ", ".join(f"{_quoted(name)} = excluded.{_quoted(name)}" for name in self._changing)
        return (
            f"INSERT INTO {self._table._meta.tablename}"
            f" ({', '.join(map(_quoted, (*self._beside, *self._written)))})"
            f" SELECT {', '.join((*given, '*'))} FROM unnest({', '.join(arrays)})"
            f" ON CONFLICT ({', '.join(map(_quoted, self._key))}) DO UPDATE SET {changes}"
        )


def _of(getter: Callable[..., Callable[[Any], Any]], names: Sequence[str]) -> Callable[[Any], Sequence[Any]]:
    """A getter of these names that returns a sequence, also of one name."""
    get = getter(*names)
    return get if len(names) > 1 else lambda one: (get(one),)


def _enumerations(struct: type[msgspec.Struct]) -> dict[str, Stored]:
    """The fields whose type is an enumeration, or one or None. Its members are written as they are."""
    found: dict[str, Stored] = {}
    for field in msgspec.structs.fields(struct):
        kinds = get_args(field.type) or (field.type,)
        enumeration = next((one for one in kinds if isinstance(one, type) and issubclass(one, Enum)), None)
        if enumeration is not None:
            optional = type(None) in kinds
            read = _or_none(enumeration) if optional else enumeration
            found[field.name] = Stored(lambda value: value, read)
    return found


def _or_none(enumeration: type[Enum]) -> Convert:
    return lambda value: None if value is None else enumeration(value)


def _places(struct: type[msgspec.Struct]) -> list[str]:
    """The fields that can be passed by position."""
    parameters = signature(struct).parameters.values()
    return [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]


def _quoted(name: str) -> str:
    """A column's name in SQL, which may be a keyword, as `group` is."""
    return f'"{name}"'


def _type(column: Column) -> str:
    written = str(column.column_type)
    return _TYPES.get(written, written.lower())
