from app.amqp.tenant_channels import LiveDelay


class Tenants:
    def __init__(self) -> None:
        self.now, self.waiting = 100.0, list[float | None]()
        self.live = LiveDelay(lambda: self.waiting, lambda: self.now)

    def long(self, seconds: float) -> bool:
        """Whether a live message that has waited for so long makes a replay yield."""
        self.waiting = [None, self.now - seconds]
        return self.live.long


def test_no_tenant_waits() -> None:
    tenants = Tenants()
    assert not tenants.live.long
    tenants.waiting = [None, None]
    assert not tenants.live.long


def test_a_wait_is_long_from_ten_milliseconds_on() -> None:
    tenants = Tenants()
    assert not tenants.long(0.009) and tenants.long(0.011)


def test_where_confirms_usually_take_long_only_twice_that_is_long() -> None:
    tenants = Tenants()
    for _ in range(1000):
        tenants.live.confirmed(tenants.now - 0.2)
    assert not tenants.long(0.35) and tenants.long(0.45)


def test_what_is_slow_during_a_replay_is_not_usual() -> None:
    tenants = Tenants()
    tenants.live.replaying += 1
    for _ in range(1000):
        tenants.live.confirmed(tenants.now - 0.2)
    assert tenants.live.usual == 0 and tenants.long(0.011)


def test_replays_share_what_may_lie_before_a_live_message() -> None:
    live = Tenants().live
    assert live.share(32) == 32
    live.replaying = 2
    assert live.share(32) == 32
    live.replaying = 16
    assert live.share(32) == 4
