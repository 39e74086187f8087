"""Queries that are built once: what fixes their text, and what is filled in."""

from typing import Any
from uuid import UUID

import pytest
from piccolo.query import Insert, Select
from piccolo.querystring import QueryString

from app.store.prepared import prepared
from app.store.sql import any_of
from app.store.tables.operations import Alert
from app.store.transaction import compiled

A, B = UUID(int=1), UUID(int=2)


@prepared
def _of_match(match_id: UUID, kinds: list[str], *, limit: int) -> Select[Any]:
    query = Alert.select(Alert.id).where(Alert.match_id == match_id, Alert.tenant == "")
    return query.where(any_of(Alert.kind, kinds)).limit(limit)


def test_the_values_are_filled_in_where_the_query_has_them() -> None:
    values: tuple[UUID, list[str]] = (A, ["x"])
    assert _of_match(*values, limit=3) == compiled(_of_match.__wrapped__(*values, limit=3))
    assert list(_of_match(B, [], limit=3).args) == [B, "", []]


def test_a_query_is_built_once_for_each_form() -> None:
    built = []

    @prepared
    def query(kind: str, *, newest_first: bool) -> Select[Any]:
        built.append(newest_first)
        return Alert.select().where(Alert.kind == kind).order_by(Alert.id, ascending=not newest_first)

    ascending, descending = query("a", newest_first=False), query("a", newest_first=True)
    assert query("b", newest_first=False).sql == ascending.sql != descending.sql
    assert built == [False, True]


def test_the_text_must_not_depend_on_a_parameter() -> None:
    @prepared
    def query(kind: str | None) -> Select[Any]:
        return Alert.select().where(Alert.kind == kind) if kind else Alert.select()

    with pytest.raises(TypeError, match="keyword-only"):
        query("a")


def test_the_text_must_not_contain_the_value_of_a_parameter() -> None:
    @prepared
    def query(kind: str) -> Select[Any]:
        return Alert.select().where(QueryString(f"kind = '{kind}'"))

    with pytest.raises(TypeError, match="text"):
        query("a")


def test_one_query_may_use_a_parameter_twice_or_never() -> None:
    @prepared
    def query(kind: str, unused: int, *, limit: int) -> Select[Any]:
        return Alert.select(Alert.id).where((Alert.kind == kind) | (Alert.subject == kind)).limit(limit)

    assert list(query("a", 7, limit=1).args) == ["a", "a"]


def test_what_a_row_does_not_name_gets_the_default_of_its_column() -> None:
    @prepared
    def add(kind: str, match_id: UUID | None) -> Insert[Any]:
        return Alert.insert(Alert(kind=kind, match_id=match_id, detail="", since=1))

    sql, args = add("a", None)
    assert "VALUES (DEFAULT,$1" in sql
    assert list(args) == ["a", None, "", "", "", 1, *[None] * 6]


def test_forms_are_forgotten_when_there_are_too_many() -> None:
    built = []

    @prepared
    def query(kind: str, *, limit: int) -> Select[Any]:
        built.append(limit)
        return Alert.select(Alert.id).where(Alert.kind == kind).limit(limit)

    for limit in range(1000):
        assert query("a", limit=limit).sql.endswith(f"LIMIT {limit}")
    assert query("a", limit=999).args == ("a",)
    assert len(built) == 1000, "the latest is still there"
    query("a", limit=0)
    assert len(built) == 1001, "the oldest is not"
