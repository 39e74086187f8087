"""The client package proves that a settlement is in the signed ledger, and nothing else."""

from typing import Any

import httpx
import pytest
from matchfeed_client import ClientError, Rest
from matchfeed_client.ledger import prove

from app.ledger.writer import LedgerWriter
from tests.integration.ledger.conftest import DAY, MIDNIGHT
from tests.support.clocks import ManualClock
from tests.support.story import Story, offer
from tests.support.web import IssueKey

ROUNDS = range(1, 8)


@pytest.fixture
async def rest(client: httpx.AsyncClient, issue: IssueKey, story: Story, writer: LedgerWriter) -> Rest:
    """Of a bookmaker with some settlements, which no head covers yet."""
    await writer.catch_up()
    offers = [offer(number) for number in ROUNDS]
    await story.settle(await story.match(*offers), *offers)
    await writer.catch_up()
    return Rest(str(client.base_url), await issue(bundles=("cs2.odds.basic",)), client._transport)


async def public_key(rest: Rest) -> str:
    return str((await rest._http.get("/v1/ledger/keys")).json()["data"][0]["public_key"])


async def end_of_day(writer: LedgerWriter, times: ManualClock) -> None:
    times.now = MIDNIGHT + 1000
    await writer.catch_up()


async def test_every_settlement_is_proved(rest: Rest, writer: LedgerWriter, times: ManualClock) -> None:
    await end_of_day(writer, times)
    settlements = [each async for each in rest.settlements()]
    proofs = [await prove(rest, each, await public_key(rest)) for each in settlements]
    assert [(each.day, each.index) for each in proofs] == [(DAY, index) for index in range(len(ROUNDS))]
    assert [each.leaf["id"] for each in proofs] == [each["id"] for each in settlements]


@pytest.mark.parametrize(
    ("altered", "fault"),
    [
        ({"outcome": "lost"}, "another result"),
        ({"rests_on": [1]}, "another result"),
        ({"void_window": {"start_time": 1, "end_time": 2}}, "another void window"),
        ({"created_at": "2031-04-02T23:59:59+00:00"}, "another time"),
        ({"id": 2**40}, "no leaf"),
    ],
)
async def test_what_differs_is_not_proved(
    rest: Rest, writer: LedgerWriter, times: ManualClock, altered: dict[str, Any], fault: str
) -> None:
    await end_of_day(writer, times)
    settlement = [each async for each in rest.settlements()][3]
    with pytest.raises(ClientError, match=fault):
        await prove(rest, settlement | altered, await public_key(rest))


async def test_what_no_head_covers_and_what_another_key_signs_is_not_proved(
    rest: Rest, writer: LedgerWriter, times: ManualClock
) -> None:
    settlement = [each async for each in rest.settlements()][0]
    with pytest.raises(ClientError, match="No head covers"):
        await prove(rest, settlement, await public_key(rest))
    await end_of_day(writer, times)
    with pytest.raises(ClientError, match="is signed by the key"):
        await prove(rest, settlement, "ab" * 32)


@pytest.mark.parametrize(
    ("place", "change", "fault"),
    [
        ("heads", lambda row: row | {"head": row["head"].replace('"size":7', '"size":8')}, "was changed"),
        ("leaves", lambda row: row | {"leaf": row["leaf"].replace('"won"', '"won" ')}, "signed head"),
        ("inclusion", lambda proof: proof | {"path": proof["path"][:-1]}, "signed head"),
        ("inclusion", lambda proof: proof | {"path": [*proof["path"], "ab" * 32]}, "signed head"),
    ],
)
async def test_what_the_service_altered_is_found(
    rest: Rest, writer: LedgerWriter, times: ManualClock, place: str, change: Any, fault: str
) -> None:
    await end_of_day(writer, times)
    settlement = [each async for each in rest.settlements()][3]
    key = await public_key(rest)
    fetched = rest._http.get

    async def altered(path: str, **options: Any) -> httpx.Response:
        answer = await fetched(path, **options)
        if not path.endswith(place):
            return answer
        data = answer.json()["data"]
        data = change(data) if isinstance(data, dict) else [change(row) for row in data]
        return httpx.Response(200, json={"data": data}, request=answer.request)

    rest._http.get = altered  # type: ignore[method-assign]
    with pytest.raises(ClientError, match=fault):
        await prove(rest, settlement, key)
