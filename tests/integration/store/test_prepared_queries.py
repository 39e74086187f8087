"""Every query that Piccolo builds is one that PostgreSQL understands, in each of its forms."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import asyncpg
import pytest
from piccolo.columns import Array

import app.store
from app.domain.recovery import RecoveryState
from app.domain.scopes import Reach
from app.store import claims, entrants, erasure, prepared, settlements, soccer_matches, users
from app.store.connections import Store
from app.store.log_state import ParkedBatch
from app.store.matches import DEPENDENT_TABLES
from app.store.row_mapping import RowMapping
from app.store.tables.dialect import Computed
from app.store.tables.match import PlayerMap, Round, TeamMap, TimelineEvent
from app.store.timeline import Change
from app.store.transaction import Statement

_EITHER = (False, True)
_ENTRANTS = (entrants.TEAMS, entrants.PLAYERS, entrants.TOURNAMENTS)
#: The values of keyword-only parameters, which a query's text depends on.
_FORMS: dict[str, tuple[Any, ...]] = {
    "behind": (3,),
    "claim_filters": ((), *((name,) for name in claims.FILTERS), tuple(claims.FILTERS)),
    "conditions": ((), *((name,) for name in settlements.CONDITIONS), tuple(settlements.CONDITIONS)),
    "ended": (None, *_EITHER),
    "everything": _EITHER,
    "expelled": _EITHER,
    "filters": ((), *((name,) for name in entrants.FILTERS)),
    "finished_only": _EITHER,
    "limit": (3,),
    "lock": _EITHER,
    "locked": _EITHER,
    "match_filters": ((), *((name,) for name in soccer_matches.FILTERS)),
    "newest_first": _EITHER,
    "every_entry": _EITHER,
    "of_match": _EITHER,
    "of_node": _EITHER,
    "own": _EITHER,
    "reach": tuple(Reach),
    "result": (None, *settlements.LedgerResult),
    "rows": tuple(table.rows for table in _ENTRANTS),
    "skip": _EITHER,
    "state": (RecoveryState.COMPLETED, RecoveryState.FAILED),
    "table": _ENTRANTS,
    "unbooked": _EITHER,
    "undecided": (None, *_EITHER),
    "void": _EITHER,
    "with_type": _EITHER,
}
#: Those that have as many values as they name.
_ANY_NUMBER = ("filters", "match_filters", "claim_filters", "conditions")
#: Tables of a kind that several functions name `table`, by the function's module and name.
_TABLES: dict[str, tuple[Any, ...]] = {
    "erasure._replace": tuple(erasure.PLACES),
    "history._mark": (Round, TimelineEvent),
    "history._of_matches": (Round, TimelineEvent),
    "matches._delete_dependent": tuple(DEPENDENT_TABLES),
    "statistics._delete": (TeamMap, PlayerMap),
}
#: How many values those functions take that take any number.
_COUNTS: dict[str, tuple[int, ...]] = {
    "history._ledger_since": (1, 5),
    "consent_requests._add": (8,),
    "log_state._park": (len(ParkedBatch.__struct_fields__),),
    "recovery_jobs._insert": (8,),
    "statistics._add_team": (8,),
    "changes._after": (1, 2),
    "timeline._store": (1 + len(Change.__struct_fields__),),
    "users._save": (1 + len(users._CHANGEABLE) + len(users._CHECKS),),
}


def queries() -> Iterator[tuple[str, Callable[..., Statement]]]:
    """The functions of the store that `prepared` decorates, and those that run what they build."""
    for found in pkgutil.iter_modules(app.store.__path__):
        if found.name in ("piccolo_conf", "prepared"):  # one reads settings, the other decorates
            continue
        for name, value in vars(importlib.import_module(f"app.store.{found.name}")).items():
            decorated_in = value.__code__.co_filename if inspect.isfunction(value) else ""
            if decorated_in != prepared.__file__ or not hasattr(value, "__wrapped__"):
                continue
            runs = inspect.iscoroutinefunction(value)
            yield f"{found.name}.{name}", prepared.prepared(value.__wrapped__) if runs else value


def statements(name: str, query: Callable[..., Statement]) -> Iterator[Statement]:
    """The query in each of its forms; the values do not matter."""
    parameters = inspect.signature(query).parameters.values()
    fixed = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    wanted = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
    tables = {"table": _TABLES[name]} if name in _TABLES else {}
    for form in product(*((_FORMS | tables)[one] for one in fixed)):
        values = dict(zip(fixed, form, strict=True))
        for count in _COUNTS.get(
            name,
            (wanted + sum(len(values.get(each, ())) for each in _ANY_NUMBER),),
        ):
            yield query(*[None] * count, **values)


def mappings() -> Iterator[tuple[str, str]]:
    """What each declaration of rows in the store makes: by its name, the SQL that writes a row, and rows."""
    for found in pkgutil.iter_modules(app.store.__path__):
        if found.name == "piccolo_conf":
            continue
        for name, rows in vars(importlib.import_module(f"app.store.{found.name}")).items():
            if isinstance(rows, RowMapping):
                place, written = f"{found.name}.{name}", (*rows._beside, *rows._written)
                column_of = rows._table._meta.get_column_by_name
                kinds = [*rows.columns, *map(column_of, written)]
                if not any(isinstance(column, Array | Computed) for column in kinds):
                    yield place, rows._upsert
                    yield place, rows._insert(*[None] * len(written)).sql
                if set(rows._key) <= set(rows._written):
                    values = [None] * (len(rows._key) + len(rows._changing))
                    yield place, rows._update(*values, names=tuple(rows._changing)).sql


async def test_postgresql_understands_what_a_mapping_makes(store: Store) -> None:
    found = list(mappings())
    assert len(found) > 20
    async with store.autocommit() as tx:
        for place, sql in found:
            try:
                await tx.connection.prepare(sql)
            except asyncpg.PostgresError as error:
                pytest.fail(f"{place}: {error}: {sql}")


async def test_postgresql_understands_every_query(store: Store) -> None:
    found = dict(queries())
    assert len(found) > 100
    faults = []
    async with store.autocommit() as tx:
        for name, query in found.items():
            for statement in statements(name, query):
                try:
                    await tx.connection.prepare(statement.sql)
                except asyncpg.PostgresError as error:
                    faults.append(f"{name}: {error}: {statement.sql}")
    assert faults == []
