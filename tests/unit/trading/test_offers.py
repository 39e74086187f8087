"""No market is on offer of which one result is certain, or beyond 97 %, by the lines received and the clock.

What is certain is found the slow way here: every way in which the round can still end is listed by the rules
of the game, and a market must be undecided among them.

The reason of a suspension is public; an operator's own text is not.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.domain.changes import DetailsChanged
from app.domain.doubts import BY_OPERATOR
from app.domain.lifecycle import suspend
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Side, Status, Team
from app.trading import engine
from app.trading.pricing import PricingConfig
from app.trading.rules import Specifiers, parse_specifiers
from app.wire.views.offers import market_view
from tests.unit.domain.play import TEAMS, Server
from tests.unit.trading.trader import Trader

DELAY = PricingConfig().bet_delay_seconds
ROUND, FUSE, PLANT, DEFUSE, DEFUSE_WITH_KIT = 115.0, 40.0, 3.2, 10.0, 5.0
WINNER, KILLS = (13,), (19, 20)


class Step(NamedTuple):
    """Something that may happen so many seconds after the last; what does not fit is left out."""

    kind: str
    seconds: float
    team: Team = "home"
    kit: bool = False


class Ending(NamedTuple):
    """A way for the round to end, with the least and the most kills until then."""

    winner: Side
    least: int
    most: int


class Play:
    """A live second round, home as CT, its clock as the rules have it."""

    def __init__(self) -> None:
        self.server = Server.started()
        self.server.rounds("home")
        self.trader = Trader.opened(self.server.match, checking=False)
        self.server.go_live()
        self.began = self.now = self.server.now
        self.alive: dict[Team, int] = {"home": 5, "away": 5}
        self.kills = 0
        self.planted_at: int | None = None
        self.defuse_ends: float | None = None

    def left(self, now: float) -> float:
        """Seconds of the round's time or of the fuse."""
        if self.planted_at is None:
            return ROUND - (now - self.began) / 1000
        return FUSE - (now - self.planted_at) / 1000

    def happen(self, step: Step) -> None:
        at = self.now + int(step.seconds * 1000)
        if self.left(at) <= 0 or not all(self.alive.values()):
            return
        self.now = at
        fact = self._fact(step, at)
        if fact is not None:
            self.server.report(fact)

    def _fact(self, step: Step, at: int) -> f.Fact | None:
        if step.kind == "kill":
            victims: Team = "away" if step.team == "home" else "home"
            self.alive[victims] -= 1
            self.kills += 1
            return f.Killed(
                at=at,
                killer=TEAMS[step.team][self.alive[step.team] - 1],
                side="CT" if step.team == "home" else "T",
                victim=TEAMS[victims][self.alive[victims]],
                victim_side="T" if step.team == "home" else "CT",
                weapon="ak47",
            )
        if step.kind == "plant" and self.planted_at is None:
            self.planted_at = at
            return f.BombPlanted(at=at, player=TEAMS["away"][0], site="B")
        if step.kind == "defuse" and self.planted_at is not None:
            self.defuse_ends = at + 1000 * (DEFUSE_WITH_KIT if step.kit else DEFUSE)
            return f.DefuseBegun(at=at, player=TEAMS["home"][0], kit=step.kit)
        return None

    def endings(self, now: float) -> Iterator[Ending]:
        """Every way for the round to end after `now`, if nothing has happened until then."""
        ct, t, left = self.alive["home"], self.alive["away"], self.left(now)
        spared = max(ct - 1, 0) + max(t - 1, 0)
        if left > 0 and ct and t:
            yield Ending("T", ct, ct + t - 1)
        if self.planted_at is not None:
            yield Ending("T", 0, spared)
            under_way = self.defuse_ends is not None and now < self.defuse_ends <= now + left * 1000
            if left >= DEFUSE_WITH_KIT or under_way:
                yield Ending("CT", 0, spared + 1)
            return
        yield Ending("CT", 0, spared if left > 0 else 0)
        if left > 0:
            yield Ending("CT", t, ct + t - 1)
        if left > PLANT:
            yield Ending("T", 0, spared)

    def can_end_both_ways(self, type_id: int, specifiers: Specifiers, now: float) -> bool:
        ends = list(self.endings(now))
        if type_id in WINNER:
            return len({end.winner for end in ends}) == 2
        over = any(self.kills + end.most > specifiers.threshold for end in ends)
        return over and any(self.kills + end.least <= specifiers.threshold for end in ends)


steps = st.builds(
    Step,
    st.sampled_from(("kill", "kill", "plant", "defuse")),
    st.floats(0.5, 30),
    st.sampled_from(("home", "away")),
    st.booleans(),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, max_size=12), st.floats(0, 130))
@example([Step("kill", 5, "home")], 111.0)
@example([Step("plant", 60)], 31.0)
@example([Step("plant", 60), Step("defuse", 28, kit=True)], 1.0)
@example([*(Step("kill", 3, "away") for _ in range(4)), Step("plant", 5)], 20.0)
@example([*(Step("kill", 3, "home") for _ in range(4)), *(Step("kill", 3, "away") for _ in range(3))], 92.0)
def test_what_is_on_offer_can_still_end_both_ways(story: list[Step], wait: float) -> None:
    play = Play()
    for step in story:
        play.happen(step)
    now = play.now + int(wait * 1000)
    play.trader.match, play.trader.now = play.server.match, now - 1000
    play.trader.react()
    for market in play.trader.active():
        assert 0.03 - 1e-9 <= market.probability <= 0.97 + 1e-9, market
        specifiers = parse_specifiers(market.specifiers)
        if market.type_id in WINNER + KILLS and specifiers.round == 2:
            for moment in (now, now + DELAY * 1000):
                assert play.can_end_both_ways(market.type_id, specifiers, moment), (market, moment)


def test_a_round_is_on_offer_at_all() -> None:
    play = Play()
    play.happen(Step("kill", 5, "home"))
    play.happen(Step("kill", 5, "away"))
    play.trader.match, play.trader.now = play.server.match, play.now
    play.trader.react()
    assert {13, 19, 20} <= {market.type_id for market in play.trader.active()}


MATCH = Match(UUID(int=7), 7, "Northwind", "Harbour", "Cup", status=Status.LIVE)
MARKET = Market(1, "team=home", MarketStatus.ACTIVE, Decimal("1.85"), 0.5)


def reasons(match: Match) -> list[object]:
    reaction = engine.react(
        match, (DetailsChanged(),), {MARKET.key: MARKET}, now=1, may_price=True, pricing=PricingConfig()
    )
    return [
        (seen.suspended_reason, seen.suspended_reason_code) for seen in map(market_view, reaction.markets)
    ]


def test_what_an_operator_wrote_stays_with_operators() -> None:
    suspended, _ = suspend(MATCH, "a source claims that it is fixed")
    assert suspended.suspended == "a source claims that it is fixed"
    assert reasons(suspended) == [(BY_OPERATOR, "operator")]


def test_an_active_market_has_no_reason() -> None:
    assert not market_view(MARKET).suspended_reason
    assert not market_view(MARKET).suspended_reason_code
