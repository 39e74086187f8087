"""What a client of the feed records, and why it recovers."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.lab.evidence import Delivery
from scripts.lab.feed_client import FeedClient, longest_silence
from scripts.lab.operators import Account

ODDS = '<odds_change event_id="od:match:7" timestamp="10"><odds/></odds_change>'
ALIVE = '<alive product="2" timestamp="10" subscribed="{}"/>'
END = '<snapshot_complete product="2" timestamp="10" request_id="{}"/>'


def message(body: str, seq: int = 0, prev: int = 0, key: str = "hi.-.live.x") -> Any:
    headers = {"x-seq": seq, "x-prev-seq": prev}
    return SimpleNamespace(body=body.encode(), headers=headers, message_id=f"mf-{seq}", routing_key=key)


def alive(subscribed: str) -> Any:
    return message(ALIVE.format(subscribed), key="-.-.-.alive.-.-.-.-")


async def _client() -> FeedClient:
    """One that connects to nothing, and whose service does not answer."""
    client = FeedClient(Account("acme", "amqp://127.0.0.1:9", "key", "feed"), "http://127.0.0.1:9")
    client._task.cancel()
    return client


@pytest.mark.parametrize(
    ("messages", "reasons"),
    [
        ((alive("1"), message(ODDS, 5)), set()),
        ((alive("0"),), {"notice"}),
        ((message(ODDS, 5), message(ODDS, 9, 7)), {"gap"}),
        ((message(ODDS, 5), message(ODDS, 9, 7), alive("1")), {"gap"}),
    ],
)
async def test_it_recovers_after_a_notice_or_a_gap(messages: tuple[Any, ...], reasons: set[str]) -> None:
    client = await _client()
    client.book.due.clear()
    for each in messages:
        client._receive(each)
    assert client._reasons == reasons
    assert client.complete == (not reasons)
    await client.close()


async def test_nothing_is_complete_before_the_first_recovery() -> None:
    client = await _client()
    assert not client.complete and await client.comparison() is None
    recovering = asyncio.create_task(client._recover())
    while not client.recoveries or not client.recoveries[0].status:
        await asyncio.sleep(0.01)
    [made] = client.recoveries
    assert (made.status, client.accepted, client.refused) == (503, 0, 0)
    client._receive(message(END.format(made.request)))
    assert client.complete and made.completed
    recovering.cancel()
    await client.close()


async def test_every_message_is_recorded() -> None:
    client = await _client()
    client._receive(message(ODDS, 5, 3))
    [got] = client.deliveries
    assert (got.name, got.number, got.previous) == ("odds_change", 5, 3)
    assert got.message_id == "mf-5" and got.live
    await client.close()


def received(moment: float) -> Delivery:
    return Delivery(moment, 1, "alive", "", 0, 0, 0, "", b"")


@pytest.mark.parametrize(
    ("moments", "away", "seconds"),
    [
        ((1, 2, 3), (), 7.0),  # from the last one to the end
        ((4, 9), (), 5.0),
        ((1, 8, 9), (), 7.0),
        ((1, 8, 9), ((2.0, 7.0),), 1.0),  # away on purpose
        ((), (), 10.0),
    ],
)
def test_the_longest_silence(
    moments: tuple[float, ...], away: tuple[tuple[float, float], ...], seconds: float
) -> None:
    assert longest_silence([received(each) for each in moments], away, 0.0, 10.0) == seconds
