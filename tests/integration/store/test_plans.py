"""Reads of large tables go by indexes: what a request costs does not grow with what is stored."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any
from uuid import UUID

import pytest

from app.domain.match import Match
from app.domain.scopes import Reach
from app.domain.tenant import Tenant
from app.store import (
    changes,
    cursors,
    entrants,
    envelopes,
    history,
    listings,
    market_history,
    match_changes,
    search,
    selfcheck_queries,
    settlements,
    soccer_matches,
    statistics,
)
from app.store.connections import Store
from app.store.entrants import MAX_FILE_NUMBER, PLAYERS, TEAMS, TOURNAMENTS
from app.store.envelopes import EnvelopeSearch
from app.store.settlements import LedgerFilter, LedgerResult
from app.store.soccer_matches import DayPlace
from app.store.transaction import Row, Tx

_CHANGES = """
INSERT INTO change (seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body)
SELECT n, md5((n % 100)::text)::uuid, n % 100, 'market', n::text, 'market.updated', 'odds_change', n, n,
    n - 100, '{}' FROM generate_series(1, 80000) n
"""
#: Rows enough that reading all of them would be the dearer way.
_FILL = (
    """
    INSERT INTO team (id, folded, body)
    SELECT n, md5(n::text), json_build_object('id', n, 'name', md5(n::text), 'region', 'R' || n % 50,
        'active', n % 100 > 0) FROM (SELECT i + i % 2 * 2000000000 AS n FROM generate_series(1, 2000) i) t
    """,
    """
    INSERT INTO tournament (id, folded, parent, body)
    SELECT n, md5(n::text), n % 100, json_build_object('id', n, 'name', md5(n::text), 'tier',
        CASE n % 40 WHEN 0 THEN 'S' ELSE 'D' END, 'is_lan', n % 50 = 0, 'starts_at', n)
    FROM generate_series(1, 2000) n
    """,
    """
    INSERT INTO player (id, folded, parent, body)
    SELECT n, md5(n::text), n % 1000, json_build_object('id', n, 'name', md5(n::text), 'account', n)
    FROM generate_series(1, 4000) n
    """,
    """
    INSERT INTO match (id, number, status, home, away, event, home_id, away_id, tournament_id, scheduled_at,
        finished_at, state)
    SELECT md5(n::text)::uuid, n, CASE n % 200 WHEN 0 THEN 'live' ELSE 'finished' END, 'a', 'b', 'c',
        1 + n % 4000, 1 + (n + 7) % 4000, 1 + n % 4000, n, n, '{}' FROM generate_series(1, 40000) n
    """,
    """
    INSERT INTO soccer_match (id, tournament_id, season, round, home_id, away_id, day, status, body)
    SELECT n, n % 200, '2030/31', n::text, n % 2000, (n + 7) % 2000, (DATE '2030-01-01' + n % 300)::text,
        'finished', '{}' FROM generate_series(1, 40000) n
    """,
    """
    INSERT INTO team_map (match_id, map, slot, team, team_id, map_name, finished_at, body)
    SELECT md5(n::text)::uuid, 1, slot, 'a', 1 + n % 4000, 'de_' || n % 8, n, '{}'
    FROM generate_series(1, 40000) n, unnest(ARRAY['home', 'away']) slot
    """,
    """
    INSERT INTO player_map (match_id, map, account, name, team, map_name, finished_at, body)
    SELECT md5(n::text)::uuid, 1, n % 8000, n::text, 'a', 'de_nuke', n, '{}' FROM generate_series(1, 40000) n
    """,
    """
    INSERT INTO ledger_entry (id, match_id, type_id, specifiers, at, body)
    SELECT n, md5((n / 2)::text)::uuid, 1, '', n,
        json_build_object('new_status', CASE n % 500 WHEN 0 THEN 'pending' ELSE 'settled' END)
    FROM generate_series(1, 80000) n
    """,
    _CHANGES,
    "UPDATE match SET last_seq = 79900 + number % 100",
    "ANALYZE",
)
#: After trigrams have selected rows, a sequential scan of a short table may still be cheaper.
_NAMES = ("team", "tournament", "player")
_LARGE = (
    *_NAMES,
    "match",
    "team_map",
    "player_map",
    "ledger_entry",
    "name_trigram",
    "change",
    "soccer_match",
)


class Explained(Tx):
    """Has statements planned instead of run: no rows are returned, and the plans are recorded."""

    __slots__ = ("plans",)

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.plans: list[str] = []

    async def fetch(self, sql: str, *args: Any) -> list[Row]:
        rows = await super().fetch(f"EXPLAIN {sql}", *args)
        self.plans.append("\n".join(row["QUERY PLAN"] for row in rows))
        return []

    async def row(self, sql: str, *args: Any) -> Row | None:
        await self.fetch(sql, *args)
        return None

    async def value(self, sql: str, *args: Any) -> Any:
        await self.fetch(sql, *args)


async def fill(store: Store, statements: Iterable[str]) -> None:
    async with store.transaction() as tx:
        for statement in statements:
            await tx.execute(statement)


@pytest.fixture
async def explained(store: Store) -> AsyncIterator[Explained]:
    await fill(store, _FILL)
    async with store.autocommit() as tx:
        yield Explained(tx.connection)


def ledger_page(tx: Tx, reach: Reach = Reach.EVERYTHING, **wanted: Any) -> Awaitable[Any]:
    return settlements.page(tx, UUID(int=1), reach, LedgerFilter(**wanted), limit=51)


def soccer_page(tx: Tx, **wanted: Any) -> Awaitable[Any]:
    return soccer_matches.listing(tx, after=DayPlace("2030-01-02", 5), limit=51, **wanted)


Read = Callable[[Tx], Awaitable[Any]]
#: Twenty of the matches that have changes.
_IDS = [UUID(hashlib.md5(str(number).encode()).hexdigest()) for number in range(20)]
READS: dict[str, Read] = {
    "changes": lambda tx: changes.read(tx, 70_000, 500),
    "newest change": lambda tx: changes.newest_stamp(tx),
    "newest messages of a tenant": lambda tx: selfcheck_queries.newest_of_tenant(tx, UUID(int=1), _IDS),
    "unpublished changes of each tenant": lambda tx: cursors.statuses(tx),
    "unpublished changes of a tenant": lambda tx: cursors.status_of(tx, UUID(int=1)),
    "changes for a stream": lambda tx: changes.newest_seqs(tx, _IDS),
    "maps of a team": lambda tx: statistics.of_team(tx, 7, since=9, limit=5000),
    "maps of a match": lambda tx: statistics.of_matches(tx, 7, [UUID(int=1)]),
    "a map": lambda tx: statistics.of_maps(tx, ["de_1", "de_2"], since=9, limit=1000),
    "a player": lambda tx: statistics.of_players(tx, [5, 6], since=9, limit=500),
    "matches of a team": lambda tx: listings.of_team(tx, 7, limit=1000),
    "matches of two": lambda tx: listings.head_to_head(tx, 7, 14, limit=1000),
    "ledger": lambda tx: history.ledger_since(tx, 70_000, 50),
    "ledger of finished matches": lambda tx: history.ledger_since(tx, 70_000, 50, finished_only=True),
    "newest entries": lambda tx: ledger_page(tx),
    "entries of booked matches": lambda tx: ledger_page(tx, Reach.BOOKED),
    "entries of a match": lambda tx: ledger_page(tx, match_id=UUID(int=1)),
    "entries of a time": lambda tx: ledger_page(tx, since=100, until=200),
    "rollbacks": lambda tx: ledger_page(tx, result=LedgerResult.ROLLED_BACK),
    "rollbacks of matches": lambda tx: settlements.reversals(tx, [UUID(int=1), UUID(int=2)]),
    "entries of a market": lambda tx: settlements.of_market(tx, UUID(int=1), 1, ""),
    "search for teams": lambda tx: search.named(tx, TEAMS, "3f2a", limit=20, finished_only=False),
    "search for two letters": lambda tx: search.named(tx, PLAYERS, "3f", limit=20, finished_only=False),
    "search of finished": lambda tx: search.named(tx, TOURNAMENTS, "3f2a", limit=20, finished_only=True),
    "search for matches": lambda tx: search.matches(tx, {7: 1.0}, {9: 1.0}, limit=20, finished_only=True),
    "players by account": lambda tx: entrants.of_accounts(tx, [5, 6]),
    "names": lambda tx: entrants.named(tx, TEAMS, ["a", "b"]),
    "page of teams": lambda tx: entrants.listing(tx, TEAMS, after=100, limit=50, finished_only=True),
    "region": lambda tx: entrants.listing(tx, TEAMS, after=0, limit=50, region="r7"),
    "inactive": lambda tx: entrants.listing(tx, TEAMS, after=0, limit=50, active=False),
    "tier": lambda tx: entrants.listing(tx, TOURNAMENTS, after=0, limit=50, tier="S"),
    "on lan": lambda tx: entrants.listing(tx, TOURNAMENTS, after=0, limit=50, is_lan=True),
    "begins": lambda tx: entrants.listing(tx, TOURNAMENTS, after=0, limit=50, starts_from=1_990),
    "chart of a match": lambda tx: match_changes.of_match(
        tx, _IDS[0], ["6:map=1|team=home"], 0, limit=50, every_entry=False
    ),
    "newest changes of a market": lambda tx: market_history.newest(
        tx, None, _IDS[0], (6, "map=1|team=home"), limit=50
    ),
    "beginning of a history": lambda tx: market_history.complete_from(tx, Match(_IDS[0], 1, "a", "b", "c")),
    "squad": lambda tx: entrants.listing(tx, PLAYERS, after=0, limit=50, parents=[7]),
    "matches of a soccer tournament": lambda tx: soccer_page(tx, tournament=7),
    "matches of a soccer team": lambda tx: soccer_page(tx, team=7),
    "soccer of a day": lambda tx: soccer_page(tx, first_day="2030-05-01", last_day="2030-05-01"),
    "a season": lambda tx: soccer_matches.of_season(tx, 7, "2030/31"),
    "seasons": lambda tx: soccer_matches.seasons(tx, 7),
    "known to the public": lambda tx: entrants.is_public(tx, TEAMS, MAX_FILE_NUMBER + 1),
}


async def test_no_large_table_is_read_whole(explained: Explained) -> None:
    for name, read in READS.items():
        explained.plans.clear()
        await read(explained)
        assert explained.plans, name
        for plan in explained.plans:
            spared = _NAMES if name.startswith("search") else ()
            whole = [table for table in _LARGE if table not in spared and f"Seq Scan on {table} " in plan]
            assert not whole, f"{name}\n{plan}"


class Numbered(Explained):
    """Answers as well where one number is wanted: with a position in the change log."""

    async def value(self, sql: str, *args: Any) -> Any:
        await super().value(sql, *args)
        return 79_000


class Positioned(Numbered):
    """Answers with an empty page, too."""

    async def fetch(self, sql: str, *args: Any) -> Any:
        await super().fetch(sql, *args)
        return [{"seq": None, "next": None}]


@pytest.mark.parametrize(
    "statements", [(_CHANGES,), (_CHANGES, "ANALYZE change")], ids=["no statistics", "usual"]
)
async def test_people_read_envelopes_by_the_index(store: Store, statements: tuple[str, ...]) -> None:
    await fill(store, statements)
    tenant, recent = Tenant(UUID(int=1), "acme", "Acme"), EnvelopeSearch(first=79_000, last=79_900)
    async with store.autocommit() as tx:
        explained = Positioned(tx.connection)
        for search in (EnvelopeSearch(), recent):
            await envelopes.page(explained, tenant, search, limit=50, scanned=500)
        await envelopes.count_since(explained, tenant.id, 79_000)
    whole = [plan for plan in explained.plans if "Seq Scan on change " in plan or "Sort Key: change." in plan]
    assert (len(explained.plans), whole) == (6, [])


@pytest.mark.parametrize(
    "statements", [(_CHANGES,), (_CHANGES, "ANALYZE change")], ids=["no statistics", "usual"]
)
async def test_the_history_of_markets_is_read_by_the_index(store: Store, statements: tuple[str, ...]) -> None:
    await fill(store, statements)
    tenant = Tenant(UUID(int=1), "acme", "Acme")
    async with store.autocommit() as tx:
        explained = Numbered(tx.connection)
        for wanted in ((1, ""), 1, None):
            await market_history.following(explained, tenant, _IDS[0], wanted, after=0, limit=100)
    plans = [plan for plan in explained.plans if "on tenant" not in plan]
    assert len(plans) == 6
    for plan in plans:
        assert "change_match" in plan or "change_pkey" in plan and "match_id" not in plan, plan


@pytest.mark.parametrize(
    "statements", [(), (_CHANGES,), (_CHANGES, "ANALYZE change")], ids=["empty", "no statistics", "usual"]
)
async def test_what_tenants_have_yet_to_receive_is_read_by_the_index(
    store: Store, statements: tuple[str, ...]
) -> None:
    # A statement that was planned on an empty change log keeps its plan until the first statistics; and the
    # estimate of what many tenants have yet to receive grows with the log, up to what would be compiled.
    await fill(store, statements)
    async with store.autocommit() as tx:
        explained = Explained(tx.connection)
        await cursors.statuses(explained)
        await cursors.status_of(explained, UUID(int=1))
    assert len(explained.plans) == 2
    for plan in explained.plans:
        assert "Seq Scan on change " not in plan and "JIT:" not in plan, plan
