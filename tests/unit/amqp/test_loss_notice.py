"""What a tenant is yet to be told, and when."""

import pytest
from msgspec.structs import replace

from app.amqp import loss_notice
from app.amqp.loss_notice import LossNotice
from app.broker.management import ExchangeBinding
from tests.support.clocks import ManualTime
from tests.unit.amqp.brokered import TAKEN

SECONDS = 10.0


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> ManualTime:
    time = ManualTime()
    monkeypatch.setattr(loss_notice, "time", time)
    return time


def test_a_loss_pending_from_the_former_holder_is_notified_first(time: ManualTime) -> None:
    notice = LossNotice(replace(TAKEN, notice_pending=True), SECONDS)
    assert notice.must_notify_first and notice.pending


def test_nothing_waits_for_a_notice_that_nobody_would_receive(time: ManualTime) -> None:
    notice = LossNotice(TAKEN, SECONDS)
    notice.bindings.replace([])
    notice.record_loss()
    assert notice.pending and not notice.must_notify_first
    notice.bindings.replace([ExchangeBinding("acme.feed", "#", "oddsfeed")])
    assert notice.must_notify_first, "before anything else, as soon as a queue is bound"


def test_losses_that_follow_closely_share_the_next_notice(time: ManualTime) -> None:
    notice = LossNotice(TAKEN, SECONDS)
    notice.record_loss()
    assert notice.is_due(None)
    notice.alive_published(subscribed=False, lost=1, dead_heartbeat=None)
    assert not notice.pending
    notice.record_loss()
    notice.record_loss()
    assert notice.pending and not notice.is_due(None)
    assert notice.holdoff == 3 * SECONDS
    time.now += SECONDS
    assert notice.holdoff == 2 * SECONDS and not notice.is_due(None)
    time.now += notice.holdoff
    assert notice.holdoff == 0 and notice.is_due(None)
    notice.alive_published(subscribed=True, lost=3, dead_heartbeat=None)
    assert notice.must_notify_first, "subscribed, it tells of no loss"
    notice.alive_published(subscribed=False, lost=3, dead_heartbeat=None)
    assert not notice.pending


def test_a_refused_recovery_needs_a_notice_and_is_no_loss(time: ManualTime) -> None:
    notice = LossNotice(TAKEN, SECONDS)
    notice.record_refused_recovery(5)
    assert notice.must_notify_first and not notice.pending
    notice.alive_published(subscribed=True, lost=0, dead_heartbeat=None, refused_at=5)
    assert notice.must_notify_first and notice.notified_refused_at == 0
    notice.record_refused_recovery(8)
    notice.alive_published(subscribed=False, lost=0, dead_heartbeat=None, refused_at=5)
    assert notice.notified_refused_at == 5
    assert notice.losses_pending and not notice.must_notify_first, "the next one waits"
    time.now += notice.holdoff
    assert notice.must_notify_first
    notice.alive_published(subscribed=False, lost=0, dead_heartbeat=None, refused_at=8)
    assert not notice.losses_pending and notice.notified_refused_at == 8


def test_a_loss_while_a_notice_is_published_needs_another(time: ManualTime) -> None:
    notice = LossNotice(TAKEN, SECONDS)
    notice.record_loss()
    under_way = notice.lost
    notice.record_loss()
    notice.alive_published(subscribed=False, lost=under_way, dead_heartbeat=None)
    assert notice.pending


def test_each_death_of_ingest_is_notified_once(time: ManualTime) -> None:
    notice = LossNotice(replace(TAKEN, notified_heartbeat=5), SECONDS)
    assert not notice.is_due(None) and not notice.is_due(5)
    assert notice.is_due(7) and not notice.must_notify_first, "it keeps nothing else waiting"
    notice.alive_published(subscribed=False, lost=0, dead_heartbeat=7)
    assert not notice.is_due(7)


def test_after_a_long_silence_only_the_notice_ends_it(time: ManualTime) -> None:
    notice = LossNotice(replace(TAKEN, silent=20_001), SECONDS)
    assert notice.overdue and notice.must_notify_first and notice.silent == 20_001
    notice.alive_published(subscribed=True, lost=0, dead_heartbeat=None)
    assert notice.overdue
    notice.alive_published(subscribed=False, lost=0, dead_heartbeat=None)
    assert not notice.must_notify_first and notice.silent == 0


def test_queue_losses_may_be_notified_later(time: ManualTime) -> None:
    notice = LossNotice(replace(TAKEN, dropped=25), SECONDS)
    notice.withheld = True
    assert notice.pending and not notice.must_notify_first and notice.dropped == 25
