"""The status for anybody: the page, the feed in Atom, JSON; what is sent without a key, and cached."""

import re
from datetime import UTC, datetime

import httpx
import pytest
from lxml import etree

from app.domain.delays import bucket, no_counts
from app.domain.service_status import Incident, IncidentKind, IncidentUpdate, Maintenance, Part, PartState
from app.kit.clock import system_clock
from app.ledger.writer import LedgerWriter, rotate
from app.settings import Settings
from app.status.days import record_complete
from app.store import incidents, status_days
from app.store.connections import Store
from tests.support.web import serving

ATOM = {"a": "http://www.w3.org/2005/Atom"}
UNSAFE = "<script>alert(1)</script> & more"


@pytest.fixture
async def written(store: Store) -> None:
    """An ended incident, an open one that nothing has ended yet, and maintenance."""
    now = system_clock()
    updates = (
        IncidentUpdate(now - 60_000, "Nobody publishes.", PartState.DOWN),
        IncidentUpdate(now - 50_000, UNSAFE + "\uffff", None, "cli:ann"),
        IncidentUpdate(now - 40_000, "Over.", PartState.OK),
    )
    async with store.transaction() as tx:
        await incidents.add(tx, Incident(0, IncidentKind.FEED, now - 61_000, now - 40_000, updates))
        late = IncidentUpdate(now, "Servers are silent.", PartState.DEGRADED)
        await incidents.add(tx, Incident(0, IncidentKind.SOURCES, now, None, (late,)))
        planned = Maintenance(0, now + 3_600_000, now + 7_200_000, "A new disk.", (Part.FEED,), now)
        await incidents.announce(tx, planned)


@pytest.mark.usefixtures("written")
async def test_anybody_reads_the_status_as_json(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/status")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("application/json")
    assert answer.headers["cache-control"] == "public, max-age=5"
    data = answer.json()["data"]
    assert {each["part"]: each["state"] for each in data["parts"]}["prices"] == "degraded"
    assert data["state"] == "degraded"
    newest, ended = data["incidents"]
    assert newest["kind"] == "sources" and newest["ended_at"] is None
    assert [each["state"] for each in ended["updates"]] == ["down", None, "ok"]
    assert ended["parts"] == ["feed", "recoveries"]
    [planned] = data["maintenance"]
    assert planned["parts"] == ["feed"] and planned["cancelled_at"] is None
    assert data["promises"] == {
        "result_seconds": 3,
        "message_seconds": 2,
        "recovery_seconds": 30,
        "availability": 0.999,
    }
    assert "cli:ann" not in answer.text


async def test_anybody_sees_the_newest_head_of_the_ledger(store: Store, settings: Settings) -> None:
    """Until there is one, nothing; afterwards its number and hash, on the page and as JSON."""
    async with serving(settings) as client:
        assert (await client.get("/v1/status")).json()["data"]["ledger_head"] is None
        assert "Signed ledger" not in (await client.get("/status")).text
    await LedgerWriter(store, settings.secret_key).catch_up()
    made = await rotate(store, settings.secret_key, by="test")
    async with serving(settings) as client:
        shown = (await client.get("/v1/status")).json()["data"]["ledger_head"]
        page = (await client.get("/status")).text
    assert shown == {"number": 2, "hash": made.hash.hex(), "time": made.head.time}
    assert f"is 2, with the hash <code>{made.hash.hex()}</code>" in page


async def test_an_unchanged_status_is_sent_once(client: httpx.AsyncClient) -> None:
    """Whatever moment it was rendered at; and a wrong key does not matter."""
    first = await client.get("/v1/status", headers={"X-API-Key": "mfk_wrong"})
    tag = first.headers["etag"]
    assert tag.startswith("W/")
    again = await client.get("/v1/status", headers={"If-None-Match": tag})
    assert again.status_code == 304 and not again.content


async def test_the_status_takes_no_parameters(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/status?limit=5")).status_code == 422


@pytest.mark.usefixtures("written")
async def test_the_page_works_without_scripts_and_escapes(client: httpx.AsyncClient) -> None:
    answer = await client.get("/status")
    assert answer.status_code == 200 and "script-src" not in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "public, max-age=5"
    page = etree.fromstring(answer.content, etree.HTMLParser())
    assert page.xpath("count(//script)") == 0 and "alert(1)" in answer.text
    assert page.xpath("string(//p[@role='status'])").strip() == "Some parts do not work as they should."
    assert len(page.xpath("//h1")) == 1 and page.xpath("string(/html/@lang)") == "en"
    headings = [int(each.tag[1]) for each in page.iter("h1", "h2", "h3")]
    assert all(after <= before + 1 for before, after in zip(headings, headings[1:], strict=False))
    for table in page.iter("table"):
        assert table.xpath("count(.//th[@scope])") == table.xpath("count(.//th)") > 0
    assert "cli:ann" not in answer.text
    for name in page.xpath("//link/@href[contains(., '/assets/')]"):
        assert (await client.get(name)).status_code == 200, name


@pytest.mark.usefixtures("written")
async def test_the_feed_is_atom(client: httpx.AsyncClient) -> None:
    """As RFC 4287 demands: what an entry and a feed have, unique ids that are IRIs, times as of RFC 3339; and
    XML, whatever words were written."""
    answer = await client.get("/status.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = etree.fromstring(answer.content)
    entries = feed.xpath("a:entry", namespaces=ATOM)
    ids = feed.xpath("a:entry/a:id/text()", namespaces=ATOM)
    assert len(entries) == 3 == len(set(ids)) and all(each.startswith("http") for each in ids)
    stamps = feed.xpath("a:entry/a:updated/text()", namespaces=ATOM)
    assert stamps == sorted(stamps, reverse=True)
    assert feed.xpath("string(a:updated)", namespaces=ATOM) == stamps[0]
    for stamp in (*stamps, *feed.xpath("a:entry/a:published/text()", namespaces=ATOM)):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp)
    assert feed.xpath("count(a:link[@rel='self'])", namespaces=ATOM) == 1
    assert feed.xpath("count(a:author/a:name)", namespaces=ATOM) == 1
    assert UNSAFE in feed.xpath("string(a:entry[contains(a:id, 'incident-1')]/a:content)", namespaces=ATOM)
    assert b"cli:ann" not in answer.content


async def test_an_empty_feed_is_atom_too(client: httpx.AsyncClient) -> None:
    feed = etree.fromstring((await client.get("/status.atom")).content)
    assert feed.xpath("count(a:entry)", namespaces=ATOM) == 0
    assert feed.xpath("string(a:updated)", namespaces=ATOM)


async def test_days_stand_beside_what_is_promised(settings: Settings, store: Store) -> None:
    """A day of three results, one of them slow, from two processes."""
    day = datetime(2033, 5, 18, tzinfo=UTC)
    begin = int(day.timestamp() * 1000)
    quick, slow = no_counts(), no_counts()
    quick[bucket(0.3)], slow[bucket(9.9)] = 2, 1
    async with store.transaction() as tx:
        await incidents.observe(tx, begin)
        for process, counts in (("one", quick), ("other", slow)):
            counted = {("2033-05-18", name): counts for name in ("messages", "results", "results:map_winner")}
            await status_days.save_counts(tx, process, counted)
        down = IncidentUpdate(begin + 10_000, "down", PartState.DOWN), IncidentUpdate(0, "up", PartState.OK)
        ended = begin + 874_000
        await incidents.add(tx, Incident(0, IncidentKind.INGEST, begin + 10_000, ended, (down[0],)))
        await incidents.observe(tx, begin + 90_000_000)
    now = begin + 90_000_000
    assert [await record_complete(store, now) for _ in range(2)] == [1, 0]
    async with serving(settings, lambda: now) as client:
        [today, yesterday] = (await client.get("/v1/status/days")).json()["data"]
    assert (today["day"], today["complete"]) == ("2033-05-19", False)
    assert (yesterday["day"], yesterday["complete"]) == ("2033-05-18", True)
    assert yesterday["results"] == {"count": 3, "p50": 0.3, "p95": 10, "p99": 10}
    assert yesterday["results_by_family"]["map_winner"]["count"] == 3
    assert yesterday["availability"]["prices"] == 0.99 and yesterday["availability"]["rest"] == 1
    assert yesterday["kept"] == {
        "results": False,
        "messages": False,
        "recoveries": None,
        "availability": False,
    }
