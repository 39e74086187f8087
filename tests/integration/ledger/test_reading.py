"""What tenants see of the ledger: their own leaves, the hashes of all, and proofs that hold."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import Request

import httpx
import pytest
from msgspec.structs import replace

from app.domain.ledger_tree import leaf_hash
from app.ledger import reading
from app.ledger.reading import PublicKeys
from app.ledger.writer import LedgerWriter, rotate
from app.settings import Settings
from app.store import ledger, matches
from app.store.connections import Store
from app.store.ledger import StoredKey
from app.store.transaction import Tx
from scripts.verifier import save_ledger, verify_ledger
from tests.integration.ledger.conftest import DAY, MIDNIGHT
from tests.support.clocks import ManualClock, ManualTime
from tests.support.ledgers import parsed
from tests.support.story import Story, offer
from tests.support.tenants import give_profile, switch
from tests.support.web import Headers, IssueKey, serving

Read = Callable[..., Awaitable[Any]]


@pytest.fixture
def read(client: httpx.AsyncClient, basic: Headers) -> Read:
    """What a path of the ledger answers below `data`, with a bookmaker's key or another."""

    async def fetch(path: str, headers: Headers = basic, **query: object) -> Any:
        answer = await client.get(f"/v1/ledger/{path}", params=query, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    return fetch


async def settle(story: Story, *rounds: int) -> None:
    offers = [offer(number) for number in rounds]
    await story.settle(await story.match(*offers), *offers)


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def included(proof: dict[str, Any]) -> bool:
    """RFC 9162, 2.1.3.2, word for word."""
    fn, sn = proof["index"], proof["size"] - 1
    r = bytes.fromhex(proof["leaf_hash"])
    for p in map(bytes.fromhex, proof["path"]):
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r.hex() == proof["root"]


def consistent(proof: dict[str, Any]) -> bool:
    """RFC 9162, 2.1.4.2, word for word."""
    first, second = proof["first"], proof["second"]
    path = [bytes.fromhex(one) for one in proof["path"]]
    if first == second:
        return not path and proof["first_root"] == proof["second_root"]
    if first & (first - 1) == 0:
        path = [bytes.fromhex(proof["first_root"]), *path]
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node(c, fr), node(c, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and (fr.hex(), sr.hex()) == (proof["first_root"], proof["second_root"])


async def test_proofs_hold_for_every_leaf_and_every_size(
    story: Story, writer: LedgerWriter, read: Read
) -> None:
    await writer.catch_up()
    await settle(story, *range(1, 12))
    await writer.catch_up()
    hashes = [row["hash"] for row in await read("leaves", day=DAY)]
    for size in range(1, 12):
        for index in range(size):
            proof = await read("inclusion", day=DAY, index=index, size=size)
            assert included(proof)
            assert proof["leaf_hash"] == hashes[index]
            assert not included(proof | {"leaf_hash": "ab" * 32})
            assert size == 1 or not included(proof | {"index": (index + 1) % size})
        for first in range(1, size + 1):
            assert consistent(await read("consistency", day=DAY, first=first, second=size))


async def test_wrong_requests(
    story: Story, writer: LedgerWriter, client: httpx.AsyncClient, basic: Headers
) -> None:
    await writer.catch_up()
    await settle(story, 1, 2)
    await writer.catch_up()
    for path, status, detail in [
        ("inclusion?day=2031-04-02&index=1&size=1", 422, "below the size"),
        ("inclusion?day=2031-04-02&index=1&size=3", 404, "2031-04-02 has 2 leaves."),
        ("inclusion?day=yesterday&index=1&size=3", 422, "day"),
        ("consistency?day=2031-04-02&first=2&second=1", 422, "not above second"),
        ("consistency?day=2031-04-03&first=0&second=1", 404, "2031-04-03 has 0 leaves."),
        ("leaves?day=2031-04-02&limit=1001", 422, "limit"),
        ("leaves", 422, "day"),
        ("leaves?day=2031-04-02&from=2147483646&limit=2", 200, '"total":2'),
        ("inclusion?day=2031-04-02&index=0&size=2147483647", 404, "2031-04-02 has 2 leaves."),
    ]:
        answer = await client.get(f"/v1/ledger/{path}", headers=basic)
        assert (answer.status_code, detail in answer.text) == (status, True), answer.text


async def test_proofs_of_a_tenant_hold_up_nobody_else(
    story: Story,
    writer: LedgerWriter,
    settings: Settings,
    times: ManualClock,
    issue: IssueKey,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two of its requests are answered at a time, whichever keys they have, and while a proof is computed it
    has no connection to the database."""
    await writer.catch_up()
    await settle(story, 1, 2)
    await writer.catch_up()
    acme = [{"X-API-Key": await issue(bundles=("cs2.odds.basic",))} for _ in range(3)]
    other = {"X-API-Key": await issue("other", bundles=("cs2.odds.basic",))}
    may_end = threading.Event()
    monkeypatch.setattr(reading, "inclusion_path", lambda hashes, index: may_end.wait() and [])
    path = f"/v1/ledger/inclusion?day={DAY}&index=0&size=2"
    async with serving(replace(settings, database_pool_size=2), times) as client:
        try:
            proofs = [asyncio.create_task(client.get(path, headers=key)) for key in acme]
            [refused], held = await asyncio.wait(proofs, return_when=asyncio.FIRST_COMPLETED)
            assert refused.result().status_code == 429
            assert (await client.get("/v1/ledger/heads", headers=other)).status_code == 200
        finally:
            may_end.set()
        assert [each.status_code for each in await asyncio.gather(*held)] == [200, 200]


async def test_pages(
    story: Story, writer: LedgerWriter, client: httpx.AsyncClient, basic: Headers, read: Read
) -> None:
    await writer.catch_up()
    await settle(story, 1, 2, 3)
    await writer.catch_up()
    whole = await read("leaves", day=DAY)
    assert [row["index"] for row in whole] == [0, 1, 2]
    assert [*await read("leaves", day=DAY, limit=2), *await read("leaves", day=DAY, **{"from": 2})] == whole
    answer = await client.get(f"/v1/ledger/leaves?day={DAY}&from=3&limit=5", headers=basic)
    assert answer.json() == {"data": [], "meta": {"count": 0, "limit": 5, "total": 3}}
    assert [row["number"] for row in await read("heads")] == [1]
    assert await read("heads", after=1) == []


async def test_public_keys_need_no_key(client: httpx.AsyncClient, writer: LedgerWriter) -> None:
    await writer.catch_up()
    found = [await client.get(path) for path in ("/v1/ledger/keys", "/.well-known/matchfeed-ledger-keys")]
    assert [answer.status_code for answer in found] == [200, 200]
    assert found[0].json() == found[1].json()
    (key,) = found[0].json()["data"]
    assert key["key_id"] == sha256(bytes.fromhex(key["public_key"])).hexdigest()[:16]


async def test_public_keys_are_read_once_a_second(
    store: Store, settings: Settings, writer: LedgerWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await writer.catch_up()
    now, reads = ManualTime(), 0
    read = ledger.keys

    async def counted(tx: Tx) -> list[StoredKey]:
        nonlocal reads
        reads += 1
        return await read(tx)

    monkeypatch.setattr(ledger, "keys", counted)
    keys = PublicKeys(store, monotonic=now.monotonic)
    (first,) = await keys.latest()
    await rotate(store, settings.secret_key, by="test")
    found = await asyncio.gather(*(keys.latest() for _ in range(10)))
    assert (found, reads) == ([(first,)] * 10, 1)
    now.now += 1
    assert [key.retired_at is None for key in await keys.latest()] == [False, True]
    assert reads == 2


async def test_a_leaf_is_shown_to_whom_its_settlement_is_shown(
    story: Story,
    store: Store,
    writer: LedgerWriter,
    client: httpx.AsyncClient,
    issue: IssueKey,
    read: Read,
    times: ManualClock,
) -> None:
    """Of all others the hash: of a type that is off, of matches in play for keys of finished ones."""
    await writer.catch_up()
    rich = {"X-API-Key": await issue("rich", bundles=("cs2.odds.basic",))}
    late = {"X-API-Key": await issue("late", scopes=("cs2:markets:settlements",), finished_only=True)}
    await settle(story, 1)
    await switch(store, False, slug="rich", now=times.now)
    times.now += 1000
    await settle(story, 2)
    over = await story.match(offer(3))
    await story.settle(over, offer(3))
    await story.finish(over)
    await writer.catch_up()
    everything = await read("leaves", day=DAY)
    assert [row["hash"] for row in everything] == [
        leaf_hash(row["leaf"].encode()).hex() for row in everything
    ]
    for headers in (rich, late):
        shown = await read("leaves", headers, day=DAY)
        assert [row["hash"] for row in shown] == [row["hash"] for row in everything]
        answer = await client.get("/cs2/v1/settlements", headers=headers)
        settled = [row["id"] for row in answer.json()["data"]]
        own = [row for row in shown if "leaf" in row]
        assert [parsed(row, "leaf")["id"] for row in own] == settled or headers is late
        assert 0 < len(own) < len(everything)
        assert all(set(row) == {"day", "index", "hash"} for row in shown if row not in own)
    (last,) = [row for row in await read("leaves", late, day=DAY) if "leaf" in row]
    assert parsed(last, "leaf")["match_id"] == str(over.id)
    assert "price_salt" not in last, "the key may not read markets"


async def test_a_leaf_without_its_match_is_a_hash(
    story: Story, store: Store, writer: LedgerWriter, read: Read, times: ManualClock
) -> None:
    await writer.catch_up()
    match = await story.match(offer(1), offer(2))
    await story.settle(match, offer(1))
    await story.finish(match)
    await settle(story, 1)
    await writer.catch_up()
    before = await read("leaves", day=DAY)
    async with store.transaction() as tx:
        assert await matches.trim(tx, times.now + 1)
    after = await read("leaves", day=DAY)
    assert after == [{name: before[0][name] for name in ("day", "index", "hash")}, before[1]]


async def test_prices_can_be_recomputed_from_rest_with_standard_odds_alone(
    story: Story,
    store: Store,
    writer: LedgerWriter,
    client: httpx.AsyncClient,
    basic: Headers,
    read: Read,
    times: ManualClock,
    issue: IssueKey,
) -> None:
    await writer.catch_up()
    other = {"X-API-Key": await issue("other", bundles=("cs2.odds.basic",))}
    await give_profile(store, 0.1, slug="other", now=times.now)
    match = await story.match(offer(1), offer(2))
    for odds in ("1.9", "2", "2.125"):
        times.now += 1000
        await story.offer(match, offer(1, odds=odds), offer(2))
    await story.settle(match, offer(1))
    await story.take_back(match, offer(1))
    await story.settle(match, offer(1))
    await writer.catch_up()
    answer = await client.get(f"/cs2/v1/matches/{match.id}/prices", headers=basic)
    rows = [row for row in answer.json()["data"] if row["message"] == "odds_change"]
    found = await read("leaves", day=DAY)
    assert len(found) == 3
    for row in found:
        leaf = parsed(row, "leaf")
        lines = [
            f"{each['seq']} {each['timestamp']} {each['status']} {round(each.get('odds', 0) * 1000)}\n"
            for each in rows
            if each["market_offer_id"] == leaf["market_offer_id"]
            and leaf["prices"]["first_seq"] <= each["seq"] < leaf["id"]
        ]
        inner = sha256("".join(lines).encode()).digest()
        digest = sha256(bytes.fromhex(row["price_salt"]) + inner).hexdigest()
        assert leaf["prices"] == {
            "count": len(lines),
            "first_seq": leaf["prices"]["first_seq"],
            "digest": digest,
        }
    assert [parsed(row, "leaf")["prices"]["count"] for row in found] == [4, 5, 6]
    hidden = await read("leaves", other, day=DAY)
    assert [row["leaf"] for row in hidden] == [row["leaf"] for row in found]
    assert not any("price_salt" in row for row in hidden)


async def test_the_verifier_reads_the_api(
    story: Story,
    store: Store,
    writer: LedgerWriter,
    client: httpx.AsyncClient,
    basic: Headers,
    times: ManualClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Saved at three moments; before the last one a match is deleted, whose leaves and settlements stay."""
    loop = asyncio.get_running_loop()

    def urlopen(request: Request, timeout: float) -> BytesIO:
        sent = client.get(request.full_url, headers=dict(request.header_items()))
        answer = asyncio.run_coroutine_threadsafe(sent, loop).result(timeout)
        assert answer.status_code == 200, answer.text
        return BytesIO(answer.content)

    async def verified() -> str:
        await asyncio.to_thread(save_ledger.download, str(client.base_url), basic["X-API-Key"], tmp_path)
        return verify_ledger.verify(tmp_path, "", [])

    monkeypatch.setattr(save_ledger, "urlopen", urlopen)
    await writer.catch_up()
    over = await story.match(offer(4))
    await story.settle(over, offer(4))
    await story.finish(over)
    for now, leaves in ((MIDNIGHT - 1000, 4), (MIDNIGHT + 1000, 7), (MIDNIGHT + 7_200_000, 10)):
        await settle(story, 1, 2, 3)
        await writer.catch_up()
        times.now = now
        await writer.catch_up()
        if leaves == 10:
            async with store.transaction() as tx:
                assert await matches.trim(tx, times.now + 1)
        assert f"{leaves} leaves, {leaves} of them shown" in await verified()
    extended = list(verify_ledger.rows(tmp_path, "settlements"))
    assert len(extended) == 10
