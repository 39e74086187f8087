"""A struct and a table, declared once, give the statements that write rows and the struct of a row."""

from enum import StrEnum

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


def test_one_row_is_inserted_and_changed() -> None:
    rows, one = mapping(ByName), ByName(name="a", group=(1, 2), share=0.5, first=7)
    assert list(rows.insert(one, 4).args) == [4, "a", "1 2", 0.5, 7]
    assert rows.insert(one, 4).sql.startswith(
        'INSERT INTO "kept" ("match_id","name","group","share","first")'
    )
    named = RowMapping(Kept, ByName, ("name",), lasting=("first",), stored={"group": WORDS})
    sql, args = named.update(one)
    assert sql == 'UPDATE "kept" SET "group" = $1, "share" = $2 WHERE "kept"."name" = $3'
    assert list(args) == ["1 2", 0.5, "a"]
    assert list(named.update(one, "first").args) == [7, "a"]


def test_a_row_of_a_join_has_names_of_its_own() -> None:
    rows = mapping(ByPlace)
    aliases = [column._alias for column in rows.joined(Kept)]
    assert aliases == ["kept_name", "kept_group", "kept_share", "kept_first"]
    row = {"name": "of another", "kept_name": "a", "kept_group": "1", "kept_share": 0.5, "kept_first": 7}
    assert rows.read_joined(row) == ByPlace("a", (1,), 0.5, 7)


class Kind(StrEnum):
    ONE = "one"


class Short(msgspec.Struct, frozen=True):
    name: Kind
    group: Kind | None = None


class Single(msgspec.Struct, frozen=True):
    name: str
    elsewhere: int = 0


def test_an_enumeration_is_read_by_its_type() -> None:
    rows = RowMapping(Kept, Short, ("name",))
    assert rows.read({"name": "one", "group": None}) == Short(Kind.ONE)
    assert rows.read({"name": "one", "group": "one"}).group is Kind.ONE


def test_what_others_select_by_is_written_and_not_read() -> None:
    rows = RowMapping(Kept, Single, ("name",), derived={"share": lambda one: one.elsewhere / 2})
    (write,) = rows.save([Single("a", 3)])
    assert write.args == (["a"], [1.5])
    assert rows.names == '"name"'
    assert rows.read({"name": "a"}) == Single("a")


def test_a_derived_column_is_not_the_field_of_its_name() -> None:
    rows = RowMapping(Kept, ByName, ("name",), derived={"group": lambda one: len(one.group)})
    (write,) = rows.save([ByName(name="a", group=(1, 2), share=0.5, first=7)])
    assert write.args == (["a"], [0.5], [7], [2])
