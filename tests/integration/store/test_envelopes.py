"""The change log read backwards: every envelope of a booked match once, whatever a page is made from."""

from uuid import uuid4

from msgspec.structs import replace

from app.domain.market import MarketStatus
from app.domain.tenant import Tenant
from app.store import envelopes, tenants
from app.store.connections import Store
from app.store.envelopes import LAST, EnvelopeSearch
from tests.support.story import Story, offer
from tests.support.tenants import book

MINUTE = 60_000
BEGIN = 1_900_000_000_000


class Telling(Story):
    """A story with a clock of its own, in which a minute passes with each step."""

    def __init__(self, store: Store) -> None:
        self.minutes = 0
        super().__init__(store, self._minute)

    def _minute(self) -> int:
        self.minutes += 1
        return BEGIN + self.minutes * MINUTE


async def found(store: Store, tenant: Tenant, search: EnvelopeSearch, limit: int, scanned: int) -> list[int]:
    """The seqs on all pages, one after the other."""
    seqs: list[int] = []
    before: int | None = LAST
    async with store.autocommit() as tx:
        for _ in range(1_000):
            if before is None:
                return seqs
            page = await envelopes.page(tx, tenant, search, before, limit=limit, scanned=scanned)
            assert len(page.rows) <= limit
            assert page.before is None or page.before < before, "it goes on"
            seqs += [each.seq for each in page.rows]
            before = page.before
    raise AssertionError("the pages have no end")


async def told(store: Store) -> tuple[Tenant, Telling]:
    """Three matches with envelopes of one to five rows, and changes that are in no envelope."""
    tenant = Tenant(uuid4(), "acme", "Acme", amqp=True)
    async with store.transaction() as tx:
        await tenants.insert(tx, tenant, 0)
    story = Telling(store)
    several = [await story.match() for _ in range(3)]
    for step in range(1, 8):
        for index, match in enumerate(several):
            markets = [offer(number) for number in range(1, 2 + (step + index) % 4)]
            await story.offer(match, *markets)
            if step % 3 == 0:
                await story.settle(match, offer(1))
                await story.take_back(match, offer(1))
            if step % 2:
                await story.offer(match, replace(offer(1), type_id=14, status=MarketStatus.SUSPENDED))
    async with store.transaction() as tx:
        await tenants.unbook(tx, tenant.id, several[2].id)
    return tenant, story


async def test_each_envelope_is_on_one_page_whatever_is_searched(store: Store) -> None:
    tenant, _ = await told(store)
    async with store.autocommit() as tx:
        rows = await tx.fetch(
            "SELECT c.*, c.match_id IN (SELECT match_id FROM unbooked) AS off FROM change c "
            "WHERE message <> '' ORDER BY seq DESC"
        )
    booked = [row for row in rows if not row["off"]]
    match_id = booked[0]["match_id"]
    middle, late = BEGIN + 10 * MINUTE, BEGIN + 25 * MINUTE
    searches = {
        EnvelopeSearch(): booked,
        EnvelopeSearch(match_id=match_id): [row for row in booked if row["match_id"] == match_id],
        EnvelopeSearch(name="bet_settlement"): [r for r in booked if r["message"] == "bet_settlement"],
        EnvelopeSearch(type_id=14): [row for row in booked if row["key"].startswith("14:")],
        EnvelopeSearch(type_id=1): [],
        EnvelopeSearch(first=middle): [row for row in booked if row["at"] >= middle],
        EnvelopeSearch(last=middle): [row for row in booked if row["at"] <= middle],
        EnvelopeSearch(first=middle, last=late, type_id=13, name="odds_change"): [
            row
            for row in booked
            if middle <= row["at"] <= late and row["key"][:3] == "13:" and row["message"] == "odds_change"
        ],
        EnvelopeSearch(first=LAST // 2): [],
    }
    for search, expected in searches.items():
        wanted = list(dict.fromkeys(row["envelope_seq"] for row in expected))
        assert wanted or search.type_id == 1 or search.first == LAST // 2
        for limit, scanned in ((50, 20_000), (3, 20_000), (50, 9), (2, 11)):
            seen = await found(store, tenant, search, limit, scanned)
            assert seen == wanted, (search, limit, scanned)


async def test_listed_and_counted_is_what_the_feed_publishes(store: Store) -> None:
    """A match that is given back and booked again several times, and another one that is given back."""
    tenant, story = await told(store)
    often, once = await story.match(), await story.match()
    for step in range(9):
        for match in (often, once):
            await story.offer(match, offer(1), offer(step + 2))
        if step % 2:
            await book(store, often, step % 4 == 3, now=story.at)
    await book(store, once, False, now=story.at)
    await story.offer(once, offer(1))
    async with store.autocommit() as tx:
        gaps = await tenants.booking_gaps(tx)
        rows = await tx.fetch(
            "SELECT DISTINCT envelope_seq, match_id, message FROM change "
            "WHERE message <> '' OR entity = 'feed_market' ORDER BY 1 DESC"
        )
        counted = await envelopes.count_since(tx, tenant.id, 0)
    left_out = {key[1]: found for key, found in gaps.items() if key[0] == tenant.id}
    assert (len(left_out[often.id]), len(left_out[once.id])) == (2, 1)
    published = []
    for row in rows:
        seq, own = row["envelope_seq"], left_out.get(row["match_id"], [])
        if not any(after < seq <= until for after, until in own):
            published.append(row)
    seqs = [row["envelope_seq"] for row in published]
    assert 0 < len(seqs) < len(rows) - 8
    assert await found(store, tenant, EnvelopeSearch(), 50, 20_000) == seqs
    assert await found(store, tenant, EnvelopeSearch(), 3, 11) == seqs
    assert counted == sum(row["message"] != "" for row in published)


async def test_an_envelope_has_exactly_its_rows_and_neighbours_of_its_match(store: Store) -> None:
    tenant, _ = await told(store)
    async with store.autocommit() as tx:
        everything = await tx.fetch("SELECT * FROM change ORDER BY seq")
        off = {row["match_id"] for row in await tx.fetch("SELECT match_id FROM unbooked")}
        for seq in range(1, everything[-1]["seq"] + 2):
            expected = [row["seq"] for row in everything if row["envelope_seq"] == seq and row["message"]]
            rows = await envelopes.rows(tx, tenant.id, seq)
            if not expected or everything[seq - 1]["match_id"] in off:
                assert rows == []
                continue
            assert [row.seq for row in rows] == expected
            own = [
                row["envelope_seq"]
                for row in everything
                if row["match_id"] == rows[0].match_id and row["message"]
            ]
            around = await envelopes.neighbours(tx, tenant.id, rows)
            assert around.previous == max((each for each in own if each < seq), default=None)
            assert around.next == min((each for each in own if each > seq), default=None)


async def test_the_position_of_a_time(store: Store) -> None:
    async with store.autocommit() as tx:
        assert await envelopes.position(tx, BEGIN) >= 0 and await envelopes.oldest_at(tx) is None
    tenant, story = await told(store)
    async with store.autocommit() as tx:
        rows = await tx.fetch("SELECT seq, envelope_seq, at FROM change WHERE message <> '' ORDER BY seq")
        for at in {BEGIN - 1, story.at + 1, *(row["at"] for row in rows), *(row["at"] + 1 for row in rows)}:
            place = await envelopes.position(tx, at)
            assert all((row["seq"] < place) == (row["at"] < at) for row in rows), at
        assert await envelopes.oldest_at(tx) == rows[0]["at"]
        counted = await envelopes.count_since(tx, tenant.id, story.at - 5 * MINUTE)
        off = {row["match_id"] for row in await tx.fetch("SELECT match_id FROM unbooked")}
        recent = await tx.fetch(
            "SELECT DISTINCT envelope_seq, match_id FROM change WHERE message <> '' AND at >= $1",
            story.at - 5 * MINUTE,
        )
        assert 0 < counted == sum(row["match_id"] not in off for row in recent) < len(recent)
