"""Where the relay begins in a log whose older part has been forgotten."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest
from msgspec.structs import replace

from app.amqp.envelope import EnvelopeRenderer
from app.amqp.lease import LeaseDeadline, LeaseLost
from app.amqp.loss_notice import LossNotice
from app.amqp.publishers import FeedPublishers
from app.amqp.relay import Relay
from app.store import changes, cursors, tenants
from app.store.changes import ChangeRow
from app.store.connections import Store
from app.store.cursors import Checkpoint
from tests.unit.amqp.brokered import TAKEN, change


class NoStore:
    history = 0

    @asynccontextmanager
    async def autocommit(self) -> AsyncIterator[Any]:
        yield SimpleNamespace(history=self.history)


def relay_of_nothing(store: NoStore | None = None) -> Relay:
    renderer, feed = EnvelopeRenderer("oddsfeed", 2), FeedPublishers("oddsfeed")
    return Relay(cast(Store, store or NoStore()), renderer, LeaseDeadline(1000), "here", 64, feed)


def log_has(monkeypatch: pytest.MonkeyPatch, *, oldest: int, head: int) -> None:
    """Let the change log have these numbers, and no market type be off."""

    def returning(value: object) -> Any:
        async def read(tx: object) -> object:
            return value

        return read

    monkeypatch.setattr(changes, "oldest", returning(oldest))
    monkeypatch.setattr(changes, "head", returning(head))
    monkeypatch.setattr(tenants, "offers", returning({}))


@pytest.mark.parametrize(("cursor", "missed"), [(3500, 1), (4898, 1), (4899, 0), (5000, 0)])
async def test_what_was_pruned_does_not_count_as_published(
    monkeypatch: pytest.MonkeyPatch, cursor: int, missed: int
) -> None:
    """A tenant before the first change kept has missed something, and goes on where the log does."""

    log_has(monkeypatch, oldest=4900, head=5000)
    relay = relay_of_nothing()
    await relay.start()
    taken = replace(TAKEN, seq=cursor)
    publisher = relay.add(taken, LossNotice(taken, 10))
    assert (publisher.notice.lost, publisher.sent) == (missed, max(cursor, 4899))


async def test_a_loss_survives_the_process_before_it_was_notified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saved: list[Checkpoint] = []

    async def checkpoint(tx: object, holder: str, marks: dict[UUID, Checkpoint]) -> set[UUID]:
        saved.extend(marks.values())
        return set(marks)

    monkeypatch.setattr(cursors, "checkpoint", checkpoint)
    relay, notice = relay_of_nothing(), LossNotice(TAKEN, 10)
    publisher = relay.add(TAKEN, notice)
    publisher.skip_to(900)
    await relay.checkpoint()
    assert not saved
    notice.alive_published(subscribed=False, lost=1, dead_heartbeat=None)
    notice.record_loss()
    await relay.checkpoint()
    assert saved == [Checkpoint(1, 900, notice_pending=True)], (
        "one that will be told later is kept with the place"
    )


async def test_what_cannot_be_rendered_is_passed_over_and_what_follows_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def read(tx: object, after: int, limit: int) -> list[ChangeRow]:
        return [each for each in (change(1, "unheard_of"), change(2, "fixture_change")) if each.seq > after]

    monkeypatch.setattr(changes, "read", read)
    relay = relay_of_nothing()
    publisher = relay.add(TAKEN, LossNotice(TAKEN, 10))
    assert not await relay._read_page()
    names = []
    while envelope := relay._recent.next(publisher.sent):
        names.append((envelope.seq, bool(envelope.frames)))
        publisher.sent = envelope.seq
    assert names == [(1, False), (2, True)]


async def test_a_relay_ends_with_the_history_in_which_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has cached may contradict what the database has after a fail-over."""

    log_has(monkeypatch, oldest=0, head=0)
    store = NoStore()
    relay = relay_of_nothing(store)
    await relay.start()
    store.history = 217_000_000_000_000
    with pytest.raises(LeaseLost, match="failed over"):
        await relay.read()
