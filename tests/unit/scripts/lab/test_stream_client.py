"""The copy that a client of the stream keeps, frame by frame."""

import asyncio
from typing import Any

from scripts.lab.operators import Account
from scripts.lab.stream_client import StreamClient


def frame(kind: str, data: dict[str, Any], seq: int, **meta: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "meta": {"seq": seq, **meta}}


def market(status: str, odds: float = 1.85) -> dict[str, Any]:
    return {"match_id": "m", "market_offer_id": "1:", "status": status, "odds": odds}


def received(*frames: dict[str, Any]) -> StreamClient:
    """A client that has received these, and was never connected."""

    async def receive() -> StreamClient:
        client = StreamClient(Account("acme", "", "key", ""), "ws://127.0.0.1:9")
        for each in frames:
            client._receive(each)
        await client.close()
        return client

    return asyncio.run(receive())


MATCH = frame("match.created", {"id": "m", "status": "live", "events": [1]}, 1)


def test_matches_and_open_markets_are_kept() -> None:
    client = received(MATCH, frame("market.created", market("active"), 2))
    shown = client.shown({"m": "od:match:1"})["od:match:1"]
    assert shown.match == {"status": "live"}
    assert shown.markets == {"1:": {"market_offer_id": "1:", "status": "active", "odds": 1.85}}
    assert (client.last, client.alive) == (2, -1)


def test_a_market_that_is_closed_is_no_longer_on_offer() -> None:
    client = received(
        frame("market.created", market("active"), 2), frame("market.updated", market("settled"), 3)
    )
    assert client.offers == {"m": {}}


def test_the_end_of_a_snapshot_drops_what_it_did_not_mention() -> None:
    client = received(
        MATCH,
        frame("market.created", market("active"), 2),
        frame("match.updated", {"id": "other"}, 3, snapshot=True),
        frame("alive", {}, 3, snapshot=True),
    )
    assert client.matches == {"other": {"id": "other"}}
    assert client.offers == {"m": {}}
    assert client.alive == 3


def test_every_frame_is_recorded() -> None:
    client = received(MATCH, frame("bet_settlement", {"id": 5, "match_id": "m"}, 5), frame("alive", {}, 6))
    assert [(each.kind, each.match, each.seq, each.id) for each in client.frames] == [
        ("match.created", "m", 1, 0),
        ("bet_settlement", "m", 5, 5),
        ("alive", "", 6, 0),
    ]
