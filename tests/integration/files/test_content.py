"""What is in daily files, compared with what REST says of the same tenant, and read by DuckDB and pandas."""

import csv
import gzip
import io
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pandas
import pytest

from app.access import profiles
from app.domain import changes as c
from app.domain.daily_files import FileKind
from app.domain.market import MarketStatus
from app.domain.match import Match, Round
from app.domain.settlement import VoidWindow
from app.files.directory import FileDirectory
from app.store import changes
from app.store.connections import Store
from tests.integration.files.conftest import DAY, LATER, MIDNIGHT, NEXT, Make
from tests.support.clocks import ManualClock
from tests.support.story import Story, kill, offer
from tests.support.tenants import give_profile, switch
from tests.support.web import Headers, IssueKey

OTHER = 1
BUNDLE = "cs2.odds.basic"
Row = dict[str, Any]
Fetch = Callable[..., Awaitable[bytes]]
TIMES = ("timestamp", "created_at", "void_from", "void_until", "started_at", "ended_at", "time")


@pytest.fixture
def fetch(client: httpx.AsyncClient) -> Fetch:
    async def fetched(key: Headers, kind: FileKind, day: date, form: str = "parquet") -> bytes:
        answer = await client.get(f"/v1/files/{kind}-{day}.{form}", headers=key)
        return answer.raise_for_status().content

    return fetched


@pytest.fixture
def rows(fetch: Fetch, tmp_path: Path) -> Callable[..., Awaitable[list[Row]]]:
    """The rows of a Parquet file, as DuckDB reads them."""

    async def read(key: Headers, kind: FileKind, day: date) -> list[Row]:
        path = tmp_path / "read.parquet"
        path.write_bytes(await fetch(key, kind, day))
        with duckdb.connect() as db:
            db.execute("SET TimeZone = 'UTC'")
            found = db.execute(f"SELECT * FROM '{path}'")
            names = [each[0] for each in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    return read


async def key_of(issue: IssueKey, slug: str = "acme", **properties: Any) -> Headers:
    return {"X-API-Key": await issue(slug, **({"bundles": (BUNDLE,)} | properties))}


async def lived(story: Story, times: ManualClock) -> list[Match]:
    """Two matches, in whose markets something happens on both sides of midnight."""
    first, second = await story.match(), await story.match()
    for match in (first, second):
        await story.offer(match, offer(1), offer(2), offer(9, type_id=OTHER))
    times.now = MIDNIGHT - 1
    await story.offer(second, offer(1, odds=Decimal("2.105"), probability=0.4321987))
    times.now = MIDNIGHT
    await story.offer(first, offer(1, status=MarketStatus.SUSPENDED, reason="=a trader's text"))
    times.now += 60_000
    await story.settle(first, offer(1))
    await story.take_back(first, offer(1))
    await story.void(second, offer(2))
    await story.void_bets(first, VoidWindow(MIDNIGHT, MIDNIGHT + 5), offer(9, type_id=OTHER))
    return [first, second]


async def shown(client: httpx.AsyncClient, key: Headers, match: Match, resource: str) -> list[Row]:
    """All rows of one of the match's lists."""
    path, query = f"/cs2/v1/matches/{match.id}/{resource}", {"limit": "1000"}
    answer = await client.get(
        path, params=query if resource in ("prices", "settlements") else {}, headers=key
    )
    found: list[Row] = answer.raise_for_status().json()["data"]
    return found


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def on(day: date, at: int) -> bool:
    return moment(at).date() == day


async def prices_shown(client: httpx.AsyncClient, key: Headers, matches: list[Match], day: date) -> list[Row]:
    """What REST shows as prices of that day, as a file has it."""
    return [
        {"match_urn": f"od:match:{match.number}"} | {name: row[name] for name in row if name != "message"}
        for match in matches
        for row in await shown(client, key, match, "prices")
        if row["message"] == "odds_change" and on(day, row["timestamp"])
    ]


def as_shown(row: Row) -> Row:
    """A row of a file, as REST shows it."""
    found = {name: cell for name, cell in row.items() if cell is not None}
    if "odds" in found:
        found["odds"] = float(found["odds"])
    found["timestamp"] = round(found["timestamp"].timestamp() * 1000)
    return found


async def test_each_tenants_prices_are_what_rest_showed_it(
    client: httpx.AsyncClient,
    story: Story,
    store: Store,
    times: ManualClock,
    issue: IssueKey,
    make: Make,
    rows: Callable[..., Awaitable[list[Row]]],
) -> None:
    """Tenants with standard odds, with a profile that changes within the day, with probabilities, and with a
    type that goes off and on."""
    keys = [await key_of(issue, slug) for slug in ("acme", "beta", "gamma")]
    keys.append(await key_of(issue, "delta", probabilities=True))
    await give_profile(store, 0.10, slug="beta", name="wide", now=times.now)
    matches = await lived(story, times)
    await give_profile(store, 0.02, slug="beta", name="tight", now=times.now)
    await switch(store, False, slug="gamma", now=times.now)
    times.now += 60_000
    await story.offer(matches[1], offer(1, odds=Decimal("1.500")), offer(3))
    await switch(store, True, slug="gamma", now=times.now)
    await story.offer(matches[1], offer(3, odds=Decimal("3.25")))
    await make()
    seen = []
    for key in keys:
        for day in (DAY, NEXT):
            found = await rows(key, FileKind.PRICES, day)
            assert found and [as_shown(row) for row in found] == await prices_shown(client, key, matches, day)
            seen.append([(row["seq"], row["odds"], row["status"], "probability" in row) for row in found])
    acme, beta, gamma, delta = zip(seen[::2], seen[1::2], strict=True)
    assert acme[0] == gamma[0] and acme[1] != gamma[1], "nothing was off before midnight"
    assert acme[0] != beta[0] and {row[:2] for row in beta[0]} != {row[:2] for row in acme[0]}
    assert [row[:3] for row in delta[1]] == [row[:3] for row in acme[1]] and delta != acme


async def test_prices_are_the_same_once_the_change_log_is_pruned(
    client: httpx.AsyncClient,
    story: Story,
    store: Store,
    times: ManualClock,
    issue: IssueKey,
    make: Make,
    rows: Callable[..., Awaitable[list[Row]]],
) -> None:
    key, matches = await key_of(issue), await lived(story, times)
    expected = {day: await prices_shown(client, key, matches, day) for day in (DAY, NEXT)}
    for limit in (5, 6, 100):
        async with store.transaction() as tx:
            await changes.prune(tx, MIDNIGHT + 30_000, limit)
    await make()
    for day, wanted in expected.items():
        assert [as_shown(row) for row in await rows(key, FileKind.PRICES, day)] == wanted
    listed = (await client.get("/v1/files", headers=key)).json()["data"]
    assert all(each["complete"] for each in listed)


async def test_a_day_keeps_its_odds_whatever_profiles_the_tenant_gets_later(
    story: Story,
    store: Store,
    times: ManualClock,
    issue: IssueKey,
    make: Make,
    rows: Callable[..., Awaitable[list[Row]]],
) -> None:
    """Also once the change log begins after it: files and replays go back further."""
    await key_of(issue)
    own = await key_of(issue, "beta")
    await give_profile(store, 0.10, slug="beta", name="wide", now=times.now)
    matches = await lived(story, times)
    await make()
    expected = await rows(own, FileKind.PRICES, DAY)
    for margin, hours in ((0.02, 0), (0.03, 5)):
        times.now = LATER + hours * 3_600_000
        await story.offer(matches[0], offer(3))
        async with store.transaction() as tx:
            await changes.prune(tx, times.now, 100)
        await give_profile(store, margin, slug="beta", name="later", now=times.now)
    assert await rows(own, FileKind.PRICES, DAY) == expected


async def test_a_file_says_that_changes_are_missing(
    client: httpx.AsyncClient, story: Story, store: Store, times: ManualClock, issue: IssueKey, make: Make
) -> None:
    key = await key_of(issue)
    await lived(story, times)
    async with store.transaction() as tx:
        await changes.prune(tx, MIDNIGHT, 100, keep=False)
    await make()
    listed = (await client.get("/v1/files", headers=key)).json()["data"]
    assert {each["complete"] for each in listed if each["kind"] == "prices" and each["day"] == str(NEXT)} == {
        False
    }
    assert {each["complete"] for each in listed if each["kind"] != "prices"} == {True}


async def test_a_file_says_that_the_end_of_a_match_is_missing_or_all_of_it(
    client: httpx.AsyncClient, story: Story, store: Store, times: ManualClock, issue: IssueKey, make: Make
) -> None:
    key = await key_of(issue)
    await lived(story, times)
    times.now = LATER
    await story.match(offer(1))
    async with store.transaction() as tx:
        await changes.prune(tx, 2**62, keep=False)
    await make()
    listed = (await client.get("/v1/files", headers=key)).json()["data"]
    found = {each["day"]: each["complete"] for each in listed if each["kind"] == "prices"}
    assert (found[str(DAY)], found[str(NEXT)]) == (False, False)


async def test_settlements_are_the_ledger_of_the_day(
    client: httpx.AsyncClient,
    story: Story,
    times: ManualClock,
    issue: IssueKey,
    make: Make,
    rows: Callable[..., Awaitable[list[Row]]],
) -> None:
    key, matches = await key_of(issue), await lived(story, times)
    await make()
    found = await rows(key, FileKind.SETTLEMENTS, NEXT)
    ledger = [row for match in matches for row in await shown(client, key, match, "settlements")]
    same = ("id", "market_offer_id", "previous_status", "new_status", "outcome", "settled_by", "match_urn")
    assert [{name: row[name] for name in same} for row in found] == [
        {name: row[name] for name in same} for row in ledger
    ]
    windows = [(row["void_from"], row["void_until"]) for row in found if row["void_from"]]
    assert windows == [(moment(MIDNIGHT), moment(MIDNIGHT + 5))]
    assert await rows(key, FileKind.SETTLEMENTS, DAY) == []


async def played(story: Story, times: ManualClock) -> Match:
    """A match with a round and a kill before midnight, and a round after it."""
    match = await story.match(started_at=times.now)
    times.now = MIDNIGHT - 1000
    for number, ended_at in ((1, MIDNIGHT - 1), (2, MIDNIGHT)):
        one = Round(number + 1, 1, number, "home", "CT", "kills", number, 0, ended_at - 90_000, ended_at)
        await story.happen(match, c.RoundFinished(one))
    await story.happen(match, c.EventAdded(kill(MIDNIGHT - 50, 1500, killer="=Ann")))
    return match


async def test_rounds_and_timeline_are_those_of_the_day(
    story: Story,
    times: ManualClock,
    issue: IssueKey,
    make: Make,
    rows: Callable[..., Awaitable[list[Row]]],
    fetch: Fetch,
) -> None:
    key, match = await key_of(issue), await played(story, times)
    await make()
    for day, number, ended_at in ((DAY, 1, MIDNIGHT - 1), (NEXT, 2, MIDNIGHT)):
        (one,) = await rows(key, FileKind.ROUNDS, day)
        about = (one["match_urn"], one["round"], one["winner"], one["score_a"], one["ended_at"])
        assert about == (f"od:match:{match.number}", number, "team_a", number, moment(ended_at))
    (event,) = await rows(key, FileKind.TIMELINE, DAY)
    assert (event["actor"], event["weapon"], event["headshot"]) == ("=Ann", "ak47", False)
    assert (event["time"], event["time_offset_seconds"]) == (moment(MIDNIGHT - 50), 1.5)
    assert await rows(key, FileKind.TIMELINE, NEXT) == []
    text = gzip.decompress(await fetch(key, FileKind.TIMELINE, DAY, "csv.gz")).decode()
    (line,) = csv.DictReader(io.StringIO(text))
    assert (line["actor"], line["headshot"]) == ("'=Ann", "false")
    assert line["time"] == "2023-11-14T23:59:59.950Z"


async def test_a_key_for_finished_matches_has_those_that_finished_on_the_day_whole(
    story: Story, times: ManualClock, issue: IssueKey, make: Make, rows: Callable[..., Awaitable[list[Row]]]
) -> None:
    key = await key_of(issue, bundles=("cs2.scoretock",))
    match, live = await played(story, times), await played(story, times)
    times.now = MIDNIGHT + 60_000
    await story.finish(match)
    await make()
    assert await rows(key, FileKind.ROUNDS, DAY) == []
    found = await rows(key, FileKind.ROUNDS, NEXT)
    assert [(row["match_urn"], row["round"]) for row in found] == [
        (f"od:match:{match.number}", number) for number in (1, 2)
    ]
    assert live.number != match.number


async def test_pandas_reads_both_formats_alike(
    story: Story, times: ManualClock, issue: IssueKey, make: Make, fetch: Fetch
) -> None:
    key = await key_of(issue, probabilities=True)
    await lived(story, times)
    await make()
    for kind in (FileKind.PRICES, FileKind.SETTLEMENTS):
        parquet = pandas.read_parquet(io.BytesIO(await fetch(key, kind, NEXT)))
        text = io.BytesIO(await fetch(key, kind, NEXT, "csv.gz"))
        dates = [name for name in parquet.columns if name in TIMES]
        lines = pandas.read_csv(text, compression="gzip", parse_dates=dates)
        assert list(parquet.columns) == list(lines.columns) and len(parquet) == len(lines) > 0
        for name in parquet.columns:
            one, other = parquet[name], lines[name]
            if name == "odds":
                assert [Decimal(str(each)) for each in other.dropna()] == list(one.dropna())
            elif name == "suspended_reason":
                assert list(other.dropna()) == [
                    "'" + each if each[0] == "=" else each for each in one.dropna()
                ]
            else:
                assert list(one.dropna()) == list(other.dropna()), name


async def test_what_is_published_to_one_tenant_is_in_its_file_alone(
    client: httpx.AsyncClient,
    story: Story,
    store: Store,
    times: ManualClock,
    issue: IssueKey,
    make: Make,
    rows: Callable[..., Awaitable[list[Row]]],
) -> None:
    """On a day on which nothing happens but that a tenant gets the profile that another one has already."""
    acme, beta = await key_of(issue), await key_of(issue, "beta")
    await give_profile(store, 0.10, slug="beta", now=times.now)
    matches = [await story.match(offer(1), offer(2))]
    async with store.transaction() as tx:
        await profiles.assign(tx, "acme", "own", by="test", now=MIDNIGHT)
    await make()
    for key, count in ((acme, 2), (beta, 0)):
        found = [as_shown(row) for row in await rows(key, FileKind.PRICES, NEXT)]
        assert found == await prices_shown(client, key, matches, NEXT) and len(found) == count


async def test_the_same_day_makes_the_same_bytes_and_tenants_that_see_the_same_share_them(
    story: Story, store: Store, times: ManualClock, issue: IssueKey, make: Make, directory: FileDirectory
) -> None:
    await key_of(issue), await key_of(issue, "beta")
    await give_profile(store, 0.10, slug="beta", now=times.now)
    await lived(story, times)
    for slug in ("acme", "beta"):  # after what happened, so that both see the same of it
        await give_profile(store, 0.05, slug=slug, now=LATER)
    for slug in ("gamma", "delta"):
        await key_of(issue, slug)
    await make()
    first = {day: directory.manifest(day) for day in (DAY, NEXT)}
    manifest = first[DAY]
    assert manifest
    assert len([one for one in manifest.files if one.kind is FileKind.PRICES]) == 4, "standard, and beta's"
    assert len([one for one in manifest.files if one.kind is FileKind.ROUNDS]) == 2
    for day in (DAY, NEXT):
        (directory.path / str(day) / "manifest.json").unlink()
    await make()
    again = {day: directory.manifest(day) for day in (DAY, NEXT)}
    assert [one and one.files for one in again.values()] == [one and one.files for one in first.values()]
