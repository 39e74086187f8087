"""Every page of the portal with little and with much stored: the same number of statements, and small."""

import re
from urllib.parse import quote

import pytest

from app.domain.ids import match_urn
from app.domain.market import market_name
from app.domain.recovery import RecoveryKind
from app.domain.tenant import Role
from app.store.connections import Store
from app.store.transaction import Tx
from tests.integration.sites.portal.conftest import SignIn
from tests.integration.sites.portal.test_feed import portal_of, published_to
from tests.support.claims import claimed
from tests.support.portal import Person, read_routes
from tests.support.statements import recorded_statements
from tests.support.story import Story, offer
from tests.support.web import IssueKey

_FEW, _MANY = 10, 10_000  #: settlements, and changes, recoveries, users and keys that ended
_FEW_MATCHES, _MANY_MATCHES = 10, 1_001
_PAGE_BYTES = 100_000  #: with its scripts and styles, as they are sent
_FILE_ROWS = 100  #: settlements that the file reads at a time

#: Copies of a match, $1 and $2 being the first and the last: finished, live and upcoming ones in turn.
_MATCHES = """
    INSERT INTO match (id, number, status, home, away, event, scheduled_at, started_at, finished_at, state)
    SELECT md5(n::text)::uuid, own.number + n,
        (ARRAY['finished', 'live', 'upcoming'])[1 + n % 3], 'Northwind ' || n, 'Harbour', 'Cup', n, n,
        CASE n % 3 WHEN 0 THEN n END, '{}'
    FROM match own, generate_series($1::int, $2::int) n WHERE own.home = 'Northwind'
"""
#: The same of what it has. Half of the settlements are of the match itself, the others of its copies, ten of
#: each.
_COPIES = (
    """
    INSERT INTO market (match_id, type_id, specifiers, status, odds, probability, opened_at, first_opened_at)
    SELECT match_id, type_id, 'map=2|round=' || n || '|team=home', status, odds, probability, opened_at,
        first_opened_at
    FROM market, generate_series($1::int, $2::int) n WHERE specifiers LIKE 'map=1|round=2|%'
    """,
    """
    INSERT INTO ledger_entry (id, match_id, type_id, specifiers, at, body)
    SELECT 1000000 + n, CASE n % 2 WHEN 0 THEN match_id ELSE md5((1 + n / 10)::text)::uuid END,
        type_id, copied.specifiers, at,
        body::jsonb || jsonb_build_object('id', 1000000 + n, 'specifiers', copied.specifiers)
    FROM (SELECT * FROM ledger_entry ORDER BY id LIMIT 1) own, generate_series($1::int, $2::int) n,
        LATERAL (SELECT 'map=2|round=' || n || '|team=home' AS specifiers) copied
    """,
    """
    INSERT INTO change (seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body,
        arrived_at)
    SELECT 1000000 + n, match_id, number, entity, key, frame, message, at, 1000000 + n, 999999 + n, body,
        arrived_at
    FROM (SELECT * FROM change WHERE key LIKE '%round=2|%' ORDER BY seq DESC LIMIT 1) own,
        generate_series($1::int, $2::int) n
    """,
    f"""
    INSERT INTO recovery_job (tenant_id, kind, request_id, after, token, state, scheduled_at, finished_at,
        due_at, attempts, steps, steps_done, envelopes, error)
    SELECT id, '{RecoveryKind.FACADE_FULL}', n, 0, 0, 'completed', n, n, n, 1, 1, 1, 1, '' FROM tenant,
        generate_series($1::int, $2::int) n
    """,
    """
    INSERT INTO replay_job (tenant_id, node, match_ids, options, state, scheduled_at, finished_at, attempts,
        due_at, positions, envelopes, error)
    SELECT id, '', '{}', '{}', 'completed', n, n, 1, n, '{}', 1, '' FROM tenant,
        generate_series($1::int, $2::int) n
    """,
    """
    INSERT INTO claim (id, tenant_id, tenant, match_id, number, type_id, specifiers, entry_id, result,
        expected, reason, evidence, opened_at, opened_by, deadline_at, state, answer)
    SELECT md5(n::text)::uuid, tenant_id, tenant, match_id, number, type_id, 'map=2|round=' || n,
        entry_id, result, expected, reason, evidence, n, opened_by, n, 'open', ''
    FROM (SELECT * FROM claim ORDER BY opened_at DESC LIMIT 1) own, generate_series($1::int, $2::int) n
    """,
    """
    INSERT INTO api_key (id, tenant_id, hash, hint, label, scopes, sports, networks, rate_limit_rpm,
        finished_only, operator, active, created_at, revoked_at)
    SELECT md5(n::text)::uuid, tenant_id, md5(n::text)::bytea, hint, 'number ' || n, scopes, sports, networks,
        rate_limit_rpm, finished_only, operator, false, created_at, n
    FROM (SELECT * FROM api_key ORDER BY created_at LIMIT 1) own, generate_series($1::int, $2::int) n
    """,
    """
    INSERT INTO portal_user (id, tenant_id, email, name, role, active, created_at, totp_step, wrong_codes)
    SELECT md5(n::text)::uuid, tenant_id, 'number-' || n || '@a-tenant-with-a-long-name.test',
        'Person Number ' || n, role, n % 2 = 0, n, totp_step, wrong_codes
    FROM (SELECT * FROM portal_user ORDER BY created_at LIMIT 1) own, generate_series($1::int, $2::int) n
    """,
)
#: Pages that have nothing of matches, and streams; the assets are counted with each page.
_OTHERS = {
    "/portal/sign-in",
    "/portal/link/{token:str}",
    "/portal/assets/{version:str}/{name:str}",
    "/portal/events",
    "/portal/feed/events",
}
#: What is saved to a file or read by a script: of any size, with as many statements.
_FILES = {
    "/portal/envelopes/{seq:int}/body",
    "/portal/selfcheck.json",
    "/portal/matches/{ref:str}/markets/{name:str}/history.json",
}
_FILE = "/portal/settlements.csv"  #: reads its rows in pieces


@pytest.fixture
async def person(sign_in: SignIn, issue: IssueKey) -> Person:
    await issue(bundles=("cs2.odds.basic",))
    person = await sign_in(Role.OWNER)
    portal_of(person.client).delivery.seconds = 0
    return person


async def copy(store: Store, matches: tuple[int, int], rows: tuple[int, int]) -> None:
    """Copies with these numbers, from the first to the last."""
    async with store.transaction() as tx:
        await tx.execute(_MATCHES, *matches)
        for statement in _COPIES:
            await tx.execute(statement, *rows)
        await tx.execute("ANALYZE")


async def addresses(store: Store) -> dict[str, list[str]]:
    """For each route what is requested: a match with a settlement that was rolled back, a market whose price
    moved, a recovery; the lists also as they are searched."""
    story = Story(store)
    match = await story.match(offer(1), offer(2), offer(3))
    await story.settle(match, offer(1), offer(3))
    claim = (await claimed(store, match, offer(3))).id
    await story.take_back(match, offer(1))
    await published_to(store, "acme")
    async with store.autocommit() as tx:
        entry, seq = await _last(tx, "ledger_entry", "id"), await _last(tx, "change", "envelope_seq")
    await copy(store, (1, _FEW_MATCHES), (1, _FEW))
    async with store.autocommit() as tx:
        job = await _last(tx, "recovery_job", "id")
    urn = match_urn(match.number)
    markets = f"/portal/matches/{urn}/markets"
    history = f"{markets}/{quote(market_name(*offer(2).key))}"
    plain = (
        "",
        "/feed",
        "/feed/history.json",
        "/market-types",
        "/selfcheck",
        "/ledger",
        "/amqp",
        "/docs",
        "/account",
    )
    return {f"/portal{path}": [f"/portal{path}"] for path in plain} | {
        "/portal/envelopes": ["/portal/envelopes", f"/portal/envelopes?match={urn}&type=13&from=1"],
        "/portal/envelopes/{seq:int}": [f"/portal/envelopes/{seq}"],
        "/portal/envelopes/{seq:int}/body": [f"/portal/envelopes/{seq}/body"],
        "/portal/recoveries": ["/portal/recoveries"],
        "/portal/recoveries/{job_id:int}": [f"/portal/recoveries/{job}"],
        "/portal/recoveries/{job_id:int}/progress": [f"/portal/recoveries/{job}/progress"],
        "/portal/replays": ["/portal/replays"],
        "/portal/replays/running": ["/portal/replays/running"],
        "/portal/offer": ["/portal/offer", "/portal/offer?list=upcoming"],
        "/portal/settlements": ["/portal/settlements", f"/portal/settlements?match={urn}&result=won"],
        "/portal/settlements/{entry_id:int}": [f"/portal/settlements/{entry}"],
        "/portal/claims": ["/portal/claims"],
        "/portal/claims/{claim_id:uuid}": [f"/portal/claims/{claim}"],
        "/portal/claims/new": [f"/portal/claims/new?match={urn}&market={quote(market_name(*offer(3).key))}"],
        "/portal/matches/{ref:str}/markets": [markets],
        "/portal/matches/{ref:str}/markets/{name:str}": [history],
        "/portal/matches/{ref:str}/markets/{name:str}/history.json": [f"{history}/history.json"],
        "/portal/matches/{ref:str}/markets/{name:str}/prices.csv": [f"{history}/prices.csv"],
        "/portal/matches/{ref:str}/prices.csv": [f"/portal/matches/{urn}/prices.csv"],
        "/portal/people": ["/portal/people", "/portal/people?list=ended"],
        "/portal/keys": ["/portal/keys", "/portal/keys?list=ended"],
        "/portal/selfcheck.json": ["/portal/selfcheck.json"],
        _FILE: [_FILE],
    }


async def _last(tx: Tx, table: str, column: str) -> int:
    found: int = await tx.value(f"SELECT max({column}) FROM {table}")
    return found


async def test_what_a_page_costs_does_not_grow(person: Person, store: Store) -> None:
    requested = await addresses(store)
    assert requested.keys() | _OTHERS == read_routes(person.client)
    few = await costs(person, requested)
    await copy(store, (_FEW_MATCHES + 1, _MANY_MATCHES), (_FEW + 1, _MANY))
    many = await costs(person, requested)
    pieces = (_MANY - _FEW) // _FILE_ROWS + 1
    for file in (path for path in list(few) if path.endswith(".csv")):
        assert many.pop(file)[0] - few.pop(file)[0] <= 2 * pieces, "the rows, and what belongs to them"
    grown = {path: (cost[0], many[path][0]) for path, cost in few.items() if cost[0] != many[path][0]}
    assert grown == {}, "statements"
    assert {path: size for path, (_, size) in many.items() if size > _PAGE_BYTES} == {}, "bytes"


async def costs(person: Person, requested: dict[str, list[str]]) -> dict[str, tuple[int, int]]:
    """The statements and the bytes of each address; bytes count with those of what the page loads."""
    loaded: dict[str, int] = {}
    found = {}
    for route, paths in requested.items():
        for path in paths:
            with recorded_statements() as statements:
                page = await person.get(path, headers={"Accept-Language": "ru"})
            assert page.status_code == 200, path
            size = len(page.content)
            for asset in re.findall(r'(?:src|href)="(/portal/assets/[^"]+)"', page.text):
                loaded[asset] = loaded.get(asset) or (await person.client.get(asset)).num_bytes_downloaded
                size += loaded[asset]
            found[path] = len(statements), 0 if route in _FILES else size
    return found
