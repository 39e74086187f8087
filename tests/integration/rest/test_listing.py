"""The list of matches: its buckets, its pages, its window."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from lxml import etree

from app.domain.match import Status
from app.store.connections import Store
from tests.integration.rest.test_matches import BASIC, make
from tests.support.web import Headers, IssueKey

PATH = "/cs2/v1/matches"
#: Name, state and beginning of matches, in the order of the list.
PLAN = [
    ("live1", Status.LIVE, 4000),
    ("upcoming1", Status.UPCOMING, 3000),
    ("upcoming2", Status.UPCOMING, 3000),
    ("upcoming3", Status.DISCOVERED, 9000),
    ("finished1", Status.FINISHED, 2000),
    ("finished2", Status.FINISHED, 1000),
]


@pytest.fixture
async def made(store: Store) -> dict[str, str]:
    """The matches of the plan by name, and one that was called off."""
    plan = [*PLAN, ("cancelled1", Status.CANCELLED, 5000)]
    return {name: str((await make(store, status, at * 1000)).id) for name, status, at in plan}


async def listed(client: httpx.AsyncClient, headers: Headers, **wanted: Any) -> Any:
    answer = await client.get(PATH, params=wanted, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(page: Any) -> list[str]:
    return [row["id"] for row in page["data"]]


async def test_buckets_follow_each_other_in_their_own_order(
    client: httpx.AsyncClient, made: dict[str, str], basic: Headers
) -> None:
    everything = await listed(client, basic)
    assert ids(everything) == [made[name] for name, _, _ in PLAN]
    assert everything["meta"] == {"count": 6, "limit": 50, "total": 6}
    assert all(set(row) == BASIC for row in everything["data"])
    for status in ("live", "upcoming", "finished", "cancelled"):
        rows = await listed(client, basic, status=status)
        wanted = [made[name] for name in made if name.startswith(status)]
        assert ids(rows) == wanted
        assert rows["meta"] == {"count": len(wanted), "limit": 50, "total": len(wanted)}


async def test_pages_are_the_whole_list_in_parts(
    client: httpx.AsyncClient, made: dict[str, str], basic: Headers
) -> None:
    for status in [None, "upcoming", "finished"]:
        for limit in [1, 2, 3, 5, 6, 7]:
            filtered = {"status": status} if status else {}
            whole = await listed(client, basic, **filtered)
            seen: list[str] = []
            cursor: dict[str, str] = {}
            while True:
                page = await listed(client, basic, limit=limit, **filtered, **cursor)
                assert page["meta"]["total"] == whole["meta"]["total"], (status, limit)
                assert page["meta"]["count"] == len(page["data"]) <= limit, (status, limit)
                seen += ids(page)
                if "next_cursor" not in page["meta"]:
                    break
                assert len(page["data"]) == limit, (status, limit)
                cursor = {"cursor": page["meta"]["next_cursor"]}
            assert seen == ids(whole), (status, limit)


async def test_a_cursor_remains_valid_when_matches_come_and_go(
    client: httpx.AsyncClient, made: dict[str, str], basic: Headers, store: Store
) -> None:
    first = await listed(client, basic, status="upcoming", limit=1)
    assert ids(first) == [made["upcoming1"]]
    async with store.transaction() as tx:
        await tx.execute("DELETE FROM match WHERE id = $1", made["upcoming1"])
    await make(store, Status.UPCOMING, 1_000_000)  # before the cursor
    late = await make(store, Status.UPCOMING, 8_000_000)
    rest = await listed(client, basic, status="upcoming", cursor=first["meta"]["next_cursor"])
    assert ids(rest) == [made["upcoming2"], str(late.id), made["upcoming3"]]
    other = {"status": "live", "cursor": first["meta"]["next_cursor"]}
    refused = await client.get(PATH, params=other, headers=basic)
    assert refused.status_code == 422, "an empty page would look like the last one"
    assert [each["type"] for each in refused.json()["detail"]] == ["other_list"]


def at(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat().replace("+00:00", "Z")


async def test_a_window_shows_what_begins_in_it(
    client: httpx.AsyncClient, made: dict[str, str], basic: Headers
) -> None:
    for wanted, inside in [
        ({"from": at(3000)}, lambda begins: begins >= 3000),
        ({"to": at(3000)}, lambda begins: begins < 3000),
        ({"from": at(1000), "to": at(4000)}, lambda begins: 1000 <= begins < 4000),
        ({"from": "1970-01-01T01:50:00+01:00"}, lambda begins: begins >= 3000),
        ({"from": at(5000), "to": at(1000)}, lambda _: False),
    ]:
        expected = [made[name] for name, _, begins in PLAN if inside(begins)]
        page = await listed(client, basic, **wanted)
        assert ids(page) == expected, wanted
        assert page["meta"]["total"] == len(expected), wanted
        parts = await listed(client, basic, limit=1, **wanted)
        assert ids(parts) == expected[:1] and ("next_cursor" in parts["meta"]) is (len(expected) > 1), wanted


async def test_what_was_never_played_is_not_listed(
    client: httpx.AsyncClient, store: Store, basic: Headers
) -> None:
    played, unplayed = [
        [await make(store, status, 1000, played=one) for status in (Status.FINISHED, Status.CANCELLED)]
        for one in (True, False)
    ]
    for status, shown in zip(("finished", "cancelled"), played, strict=True):
        page = await listed(client, basic, status=status)
        assert ids(page) == [str(shown.id)] and page["meta"]["total"] == 1
    for hidden in unplayed:
        assert (await client.get(f"{PATH}/{hidden.id}", headers=basic)).status_code == 200


async def test_xml_lists_the_same_matches(
    client: httpx.AsyncClient, made: dict[str, str], basic: Headers
) -> None:
    for wanted in ({}, {"limit": 2}, {"status": "finished"}, {"status": "live", "limit": 1}):
        page = await listed(client, basic, **wanted)
        schedule = await client.get(f"{PATH}.xml", params=wanted, headers=basic)
        root = etree.fromstring(schedule.content)
        assert [row.get("id") for row in root] == [row["urn"] for row in page["data"]]
        assert root.get("total") == str(page["meta"]["total"])
        assert root.get("next_cursor") == page["meta"].get("next_cursor")


async def test_what_does_not_fit_is_named(client: httpx.AsyncClient, basic: Headers) -> None:
    for wanted in [
        {"cursor": ""},
        {"cursor": "live.1"},
        {"cursor": "over.1.1"},
        {"cursor": "live.-1.1"},
        {"cursor": "live.1.1 "},
        {"from": "yesterday"},
        {"to": "2031-13-01T00:00:00Z"},
        {"limit": "0"},
        {"status": "over"},
    ]:
        answer = await client.get(PATH, params=wanted, headers=basic)
        assert answer.status_code == 422, wanted
        assert [field["loc"] for field in answer.json()["detail"]] == [["query", *wanted]], wanted


async def test_of_a_parameter_sent_twice_the_last_counts_and_is_echoed(
    client: httpx.AsyncClient, basic: Headers
) -> None:
    good = await client.get(f"{PATH}?limit=500&limit=1", headers=basic)
    assert good.json()["meta"]["limit"] == 1
    wrong = await client.get(f"{PATH}?limit=1&limit=500", headers=basic)
    assert [field["input"] for field in wrong.json()["detail"]] == ["500"]


async def test_a_cursor_need_not_name_a_match(client: httpx.AsyncClient, made: Any, basic: Headers) -> None:
    for cursor in ("live.9999999999999999999.999999999999999999", "finished.0.0"):
        assert ids(await listed(client, basic, cursor=cursor)) == (
            [made[name] for name in made if name[:-1] in ("upcoming", "finished")]
            if cursor.startswith("live")
            else []
        )


async def test_keys_for_finished_matches_count_no_others(
    client: httpx.AsyncClient, made: dict[str, str], issue: IssueKey
) -> None:
    headers = {"X-API-Key": await issue(bundles=("cs2.scoretock",))}
    page = await listed(client, headers)
    assert ids(page) == [made["finished1"], made["finished2"]]
    assert page["meta"] == {"count": 2, "limit": 50, "total": 2}
    for status in ("live", "upcoming", "cancelled"):
        empty = await listed(client, headers, status=status)
        assert empty["meta"] == {"count": 0, "limit": 50, "total": 0}
