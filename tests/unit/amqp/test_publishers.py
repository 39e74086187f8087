"""Everything is published as it is declared, and by no other way than the transport."""

import asyncio
import re
from typing import Any
from uuid import UUID

from faststream.specification import AsyncAPI

from app.amqp.envelope import (
    LIVE_MESSAGES,
    MATCH_MESSAGES,
    TRANSIENT_MESSAGES,
    Envelope,
    EnvelopeRenderer,
    MatchMessage,
    live_key,
)
from app.amqp.frames import AmqpMessage, marshal
from app.amqp.publishers import FeedPublishers, RecentEnvelopes
from app.amqp.replay import ReplayRenderer
from app.domain.recovery import RecoveryKind, RecoveryRequest
from app.domain.tenant_offer import NO_CHANGES
from app.store.changes import BET_STOP, ChangeRow
from app.wire.json_schema import feed_json_schema
from tests.unit.amqp.brokered import REPLAYED, Broker, opened, went_on

RENDERER = EnvelopeRenderer("oddsfeed", 2)
REPLAY = ReplayRenderer(2, 1, "9", NO_CHANGES, probabilities=False)
REQUEST = RecoveryRequest(kind=RecoveryKind.REST_FULL, after=0, request_id="1", node_id="9")


def document(feed: FeedPublishers) -> Any:
    return AsyncAPI(feed.broker, schema_version="3.0.0").to_specification().to_jsonable()


def live_envelope(name: str, seq: int = 5) -> Envelope:
    headers: dict[str, int | str] = {"x-seq": seq, "x-prev-seq": 0}
    persistent = name not in TRANSIENT_MESSAGES
    message = AmqpMessage("oddsfeed", live_key(name, 7), b"<a/>", f"mf-{seq}", 0, headers, persistent)
    return Envelope(seq, 0, UUID(int=1), 0, name, message, marshal(message))


def messages() -> dict[str, AmqpMessage]:
    """One of every kind, as it is rendered, by the title of its publisher."""
    found = {f"live.{name}": live_envelope(name).message for name in LIVE_MESSAGES}
    for name in MATCH_MESSAGES:
        replayed = MatchMessage(name, 7, 0, 5, change_type=1)
        found[f"recovery.{name}"] = RENDERER.replayed(replayed, REQUEST, "mf-r1.1.1")
    for name in MATCH_MESSAGES:
        found[f"replay.{name}"] = REPLAY.rendered(MatchMessage(name, 7, 0, 5, change_type=1), {}, "mf-p1.1")
    stop = ChangeRow(5, UUID(int=1), 7, BET_STOP, "od:match:7", "", "", 0, 6, 4, b"{}")
    found[f"replay.{BET_STOP}"] = REPLAY.message([stop])
    found["snapshot_complete"] = RENDERER.snapshot_complete(REQUEST, 0, "mf-r1.1.2")
    found["alive"] = RENDERER.alive(0, subscribed=True)
    return found


def test_every_kind_is_declared_as_it_is_rendered() -> None:
    feed = FeedPublishers("oddsfeed")
    made, rendered = document(feed), messages()
    assert feed.titles.keys() == made["channels"].keys() == rendered.keys()
    for title, message in rendered.items():
        channel, operation = made["channels"][title], made["operations"][title]
        key = re.sub(r"\\{\w+\\}", "[^.]+", re.escape(channel["address"]))
        assert re.fullmatch(key, message.routing_key)
        assert channel["bindings"]["amqp"]["exchange"]["name"] == message.exchange
        bindings = operation["bindings"]["amqp"]
        assert (bindings["deliveryMode"] == 2) == message.persistent
        assert bindings["mandatory"] == message.mandatory


def test_the_payloads_are_those_of_the_schema_files() -> None:
    feed = FeedPublishers("oddsfeed")
    made, schemas = document(feed), feed_json_schema()
    for title, name in feed.titles.items():
        assert feed.payload(title, made) == schemas.message(name)


async def test_a_live_envelope_is_published_once_for_all_tenants() -> None:
    feed, recent = FeedPublishers("oddsfeed"), RecentEnvelopes(0)
    for seq, name in enumerate(sorted(LIVE_MESSAGES), 1):
        envelope = live_envelope(name, seq)
        await feed.live(envelope, recent)
        assert recent.next(seq - 1) is envelope and recent.head == seq


async def test_what_one_tenant_gets_is_published_when_it_is_confirmed() -> None:
    feed, broker = FeedPublishers("oddsfeed"), Broker()
    channel = await opened(broker)
    rendered = messages()
    tasks = [
        asyncio.create_task(feed.replayed("odds_change", rendered["recovery.odds_change"], channel)),
        asyncio.create_task(feed.snapshot_complete(rendered["snapshot_complete"], channel)),
        asyncio.create_task(feed.alive(rendered["alive"], channel)),
    ]
    tasks.append(asyncio.create_task(feed.of_replay(rendered["replay.odds_change"], channel)))
    await went_on()
    assert broker.published[REPLAYED] == ["mf-r1.1.1", "mf-r1.1.2", None, "mf-p1.1"]
    for tag, task in enumerate(tasks, 1):
        assert not task.done()
        broker.ack(REPLAYED, tag)
        await task
