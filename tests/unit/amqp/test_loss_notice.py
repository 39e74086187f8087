"""What a tenant is yet to be told, and when."""

from uuid import UUID

import pytest
from msgspec.structs import replace

from app.amqp import loss_notice as words
from app.amqp.loss_notice import Word
from app.store.cursors import LeasedTenant

TAKEN = LeasedTenant(UUID(int=1), "acme", 0, 1)
SECONDS = 10.0


class Time:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(words, "time", time)
    return time


def test_a_loss_that_the_last_holder_owed_a_word_for_is_told_first(time: Time) -> None:
    word = Word(replace(TAKEN, owed=True), SECONDS)
    assert word.first and word.owed


def test_losses_that_follow_closely_share_the_next_word(time: Time) -> None:
    word = Word(TAKEN, SECONDS)
    word.missed()
    assert word.due(None)
    word.said(subscribed=False, lost=1, dead=None)
    assert not word.owed
    word.missed()
    word.missed()
    assert word.owed and not word.due(None)
    time.now += word.quiet
    word.said(subscribed=True, lost=3, dead=None)
    assert word.first, "subscribed, it tells of no loss"
    word.said(subscribed=False, lost=3, dead=None)
    assert not word.owed


def test_what_is_lost_while_a_word_is_under_way_needs_another(time: Time) -> None:
    word = Word(TAKEN, SECONDS)
    word.missed()
    under_way = word.lost
    word.missed()
    word.said(subscribed=False, lost=under_way, dead=None)
    assert word.owed


def test_a_death_is_told_once_and_another_one_too(time: Time) -> None:
    word = Word(replace(TAKEN, told_dead=5), SECONDS)
    assert not word.due(None) and not word.due(5)
    assert word.due(7) and not word.first, "it keeps nothing else waiting"
    word.said(subscribed=False, lost=0, dead=7)
    assert not word.due(7)


def test_after_a_long_silence_only_the_word_itself_ends_it(time: Time) -> None:
    word = Word(replace(TAKEN, silent=20_001), SECONDS)
    assert word.overdue and word.first and word.silent == 20_001
    word.said(subscribed=True, lost=0, dead=None)
    assert word.overdue
    word.said(subscribed=False, lost=0, dead=None)
    assert not word.first and word.silent == 0


def test_what_its_queues_lost_may_be_told_later(time: Time) -> None:
    word = Word(replace(TAKEN, dropped=25), SECONDS)
    word.withheld = True
    assert word.owed and not word.first and word.dropped == 25
