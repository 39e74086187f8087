"""A struct and a table, declared once, give the statement that writes rows and the struct of a row."""

import msgspec
import pytest
from piccolo.columns import BigInt, DoublePrecision, Text
from piccolo.table import Table

from app.store.row_mapping import RowMapping, Stored
from app.store.tables.dialect import DIALECT


class Kept(Table, tablename="kept", db=DIALECT):
    match_id = BigInt(primary_key=True)
    name = Text()
    group = Text()
    share = DoublePrecision()
    first = BigInt()


class ByPlace(msgspec.Struct, frozen=True):
    name: str
    group: tuple[int, ...]
    share: float
    first: int


class ByName(msgspec.Struct, frozen=True, kw_only=True):
    elsewhere: str = "not stored"
    name: str
    group: tuple[int, ...]
    share: float
    first: int


WORDS = Stored(lambda ids: " ".join(map(str, ids)), lambda text: tuple(map(int, text.split())))


def mapping(struct: type[msgspec.Struct]) -> RowMapping[msgspec.Struct]:
    key = ("match_id", "name")
    return RowMapping(Kept, struct, key, beside=("match_id",), lasting=("first",), stored={"group": WORDS})


@pytest.mark.parametrize("struct", [ByPlace, ByName])
def test_what_is_written_is_read(struct: type[msgspec.Struct]) -> None:
    one = struct(name="a", group=(1, 2), share=0.5, first=7)
    rows = mapping(struct)
    (write,) = rows.save([one, one], 4)
    assert write.args == (4, ["a"] * 2, ["1 2"] * 2, [0.5] * 2, [7] * 2)
    row = {"name": "a", "group": "1 2", "share": 0.5, "first": 7, "match_id": 4}
    assert rows.read(row) == one
    assert rows.save([], 4) == []


def test_the_statement_names_each_column_and_changes_what_may_change() -> None:
    rows = mapping(ByName)
    (write,) = rows.save([ByName(name="a", group=(), share=0.0, first=1)], 4)
    assert write.sql == (
        'INSERT INTO kept ("match_id", "name", "group", "share", "first")'
        " SELECT $1, * FROM unnest($2::text[], $3::text[], $4::float8[], $5::bigint[])"
        ' ON CONFLICT ("match_id", "name") DO UPDATE'
        ' SET "group" = excluded."group", "share" = excluded."share"'
    )
    assert rows.names == '"name", "group", "share", "first"'
