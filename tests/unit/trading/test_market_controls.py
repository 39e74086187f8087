"""What traders have set on a match decides what is on offer, and at which price. `Trader` checks the book
after each reaction."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any

import pytest
from msgspec.structs import replace

from app.domain.changes import ControlsChanged, MapFinished, RoundsVoided
from app.domain.doubts import PRICE, raise_doubt
from app.domain.market import Market, MarketStatus
from app.domain.match import MapPlay, Team
from app.domain.profiles import Profile
from app.domain.suspension_reasons import OFF_OFFER
from app.domain.trading_controls import (
    CONTRADICTS_HELD,
    MARKET_SUSPENDED,
    MOVED_TOO_FAR,
    TYPE_CLOSED,
    ClosedType,
    HeldProbability,
    LineControl,
    MarginControl,
    StrengthShift,
    SuspendedGroup,
    SuspendedMarket,
    TradingControls,
    taken_back,
)
from app.trading.forecast import Forecast
from app.trading.held_probabilities import without_ended
from app.trading.market_controls import contradicts
from app.trading.match_facts import collect_facts
from tests.unit.domain.play import Server, new_match
from tests.unit.trading.trader import PRICING, Trader

ROUND = "map=1|round={}|team={}"
PLAYER = "map=1|player=mf:player:7|threshold=15.5"


@dataclass
class Desk:
    """A match that a server plays and a trader controls."""

    server: Server = field(default_factory=lambda: Server(new_match(3)))
    seen: int = 0

    def __post_init__(self) -> None:
        self.trader = Trader(self.server.match)
        self.server.start_map()
        self.follow()

    def follow(self) -> None:
        """React to what the server has reported since."""
        changes, self.seen = self.server.changes[self.seen :], len(self.server.changes)
        self.trader.match = replace(self.server.match, controls=self.trader.match.controls)
        self.trader.react(changes)

    def set(self, **controls: Any) -> None:
        match = self.trader.match
        self.trader.match = replace(match, controls=replace(match.controls, **controls))
        self.trader.react((ControlsChanged(),))

    def rounds(self, *winners: Team) -> None:
        for winner in winners:
            self.server.round(winner)
            if sum(self.server.score.values()) == 12:
                self.server.swap()
            self.server.freeze()
            self.follow()

    def of(self, type_id: int, specifiers: str) -> Market:
        return self.trader.of(type_id, specifiers)

    def on_offer(self, type_id: int, specifiers: str) -> bool:
        return self.of(type_id, specifiers).status is MarketStatus.ACTIVE

    def lines(self, type_id: int) -> list[float]:
        prefix = "map=1|threshold="
        return sorted(
            float(one.specifiers.removeprefix(prefix))
            for one in self.trader.active()
            if one.type_id == type_id and one.specifiers.startswith(prefix)
        )

    def margins(self) -> dict[str, float]:
        """The margin of each group on offer, to three decimals."""
        active = sorted(self.trader.active(), key=lambda one: one.group)
        return {
            name: round(sum(1 / float(one.odds) for one in members) - 1, 3)
            for name, members in groupby(active, key=lambda one: one.group)
        }


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_suspended_market_takes_its_group_off_offer(desk: Desk) -> None:
    desk.set(suspended_markets=(SuspendedMarket(6, "map=1|team=home"),))
    assert desk.of(6, "map=1|team=home").reason == MARKET_SUSPENDED
    assert desk.of(6, "map=1|team=away").reason == OFF_OFFER
    desk.rounds("home", "away")
    assert not desk.on_offer(6, "map=1|team=home") and not desk.on_offer(6, "map=1|team=away")
    desk.set(suspended_markets=())
    assert desk.on_offer(6, "map=1|team=home") and desk.on_offer(6, "map=1|team=away")


def test_a_suspended_group_has_the_reason_on_all_its_markets(desk: Desk) -> None:
    desk.set(suspended_groups=(SuspendedGroup("correct_map_score:"),))
    assert {one.reason for one in desk.trader.open() if one.type_id == 5} == {MARKET_SUSPENDED}
    desk.set(suspended_groups=())
    assert {one.reason for one in desk.trader.open() if one.type_id == 5} == {""}


def test_a_reason_does_not_outlive_what_set_it(desk: Desk) -> None:
    """Released while nothing is on offer, and off offer afterwards: that is another reason."""
    desk.set(suspended_groups=(SuspendedGroup("round_opening_kill:map=1|round=1"),))
    desk.server.go_live()
    desk.follow()
    assert desk.of(14, ROUND.format(1, "home")).reason == MARKET_SUSPENDED
    desk.set(suspended_groups=())
    assert desk.of(14, ROUND.format(1, "home")).reason == OFF_OFFER


def test_a_closed_type_makes_no_offers_and_settles_what_is_open(desk: Desk) -> None:
    desk.set(closed_types=(ClosedType(13),))
    assert desk.of(13, ROUND.format(1, "home")).reason == TYPE_CLOSED
    desk.rounds("home", "away")
    assert desk.of(13, ROUND.format(1, "home")).status is MarketStatus.SETTLED
    assert (13, ROUND.format(3, "home")) not in desk.trader.book
    desk.set(closed_types=())
    assert desk.on_offer(13, ROUND.format(3, "home"))


def test_lines_are_added_and_withdrawn(desk: Desk) -> None:
    chosen = desk.lines(8)
    far = chosen[-1] + 2
    group = "map_total_rounds:map=1|threshold={}"
    desk.set(lines=(LineControl(group.format(far), True), LineControl(group.format(chosen[2]), False)))
    offered = desk.lines(8)
    assert far in offered and chosen[2] not in offered and desk.lines(9) == offered
    assert len(offered) == len(chosen) + 1, "another line takes the place of the withdrawn one"
    desk.set(lines=())
    assert set(desk.lines(8)) <= set(offered) | set(chosen) and far not in desk.lines(8)


def test_a_line_comes_on_during_a_round_only_if_it_is_added(desk: Desk) -> None:
    desk.server.go_live()
    desk.follow()
    chosen = desk.lines(8)
    desk.set(lines=(LineControl(f"map_total_rounds:map=1|threshold={chosen[-1] + 2}", True),))
    assert desk.lines(8) == [*chosen, chosen[-1] + 2]


def test_margins_by_type_and_phase(desk: Desk) -> None:
    desk.trader.checking = False
    desk.set(
        margins=(
            MarginControl(0.08),
            MarginControl(0.1, phase="last_rounds"),
            MarginControl(0.03, "round_winner"),
            MarginControl(0.05, "round_winner", "last_rounds"),
        )
    )
    margins = desk.margins()
    assert margins["round_winner:map=1|round=1"] == 0.03 and margins["map_winner:map=1"] == 0.08
    desk.rounds(*["home", "away"] * 6, *["home"] * 6)
    margins = desk.margins()
    assert desk.trader.match.map and desk.trader.match.map.home_score == 12
    assert margins["round_winner:map=1|round=19"] == 0.05 and margins["match_winner:"] == 0.1
    desk.set(margins=())
    assert set(desk.margins().values()) == {PRICING.margin}


def test_a_margin_before_play_ends_with_play() -> None:
    trader = Trader(new_match(3), checking=False)
    margins = (MarginControl(0.12, phase="before_play"),)
    trader.match = replace(trader.match, controls=TradingControls(margins=margins))
    trader.react()
    assert {round(float(one.odds), 2) for one in trader.active() if one.type_id == 1} == {1.79}
    desk = Desk()
    desk.set(margins=margins)
    assert set(desk.margins().values()) == {PRICING.margin}


def test_a_price_that_would_move_too_far_is_suspended_until_it_is_released(desk: Desk) -> None:
    desk.set(max_move=0.2)
    desk.rounds("home", "home", "home", "home")
    winner = desk.of(6, "map=1|team=home")
    assert winner.reason == MOVED_TOO_FAR and winner.probability == pytest.approx(0.5, abs=0.12)
    desk.rounds("away", "away", "away")
    assert desk.on_offer(6, "map=1|team=home"), "it is near again"


def test_a_held_probability_rescales_its_group_and_suspends_what_contradicts_it(desk: Desk) -> None:
    scores = {one.specifiers: one.probability for one in desk.trader.active() if one.type_id == 5}
    name = "home_maps=2|away_maps=0"
    desk.set(held=(HeldProbability("correct_map_score:", 5, name, 0.5),))
    held = {one.specifiers: one.probability for one in desk.trader.active() if one.type_id == 5}
    assert held[name] == 0.5
    others = [score for score in scores if score != name]
    ratios = [held[score] / scores[score] for score in others]
    assert ratios == pytest.approx([0.5 / (1 - scores[name])] * len(others))
    assert desk.of(1, "team=home").reason == desk.of(6, "map=1|team=home").reason == CONTRADICTS_HELD
    assert desk.on_offer(14, ROUND.format(1, "home")), "who kills first says nothing about the match"
    desk.set(held=())
    assert desk.on_offer(1, "team=home")


def ended(desk: Desk) -> bool:
    match, changes = desk.server.match, desk.server.changes[desk.seen :]
    match = replace(match, controls=desk.trader.match.controls)
    kept = without_ended(match, changes, desk.trader.book, desk.server.now, PRICING)
    return not kept.controls.held


def hold_round_winner(desk: Desk, probability: float = 0.6) -> None:
    key = ROUND.format(1, "home")
    desk.set(held=(HeldProbability("round_winner:map=1|round=1", 13, key, probability),))


def test_a_held_probability_stands_at_the_lowest_odds_too(desk: Desk) -> None:
    """In play a price that cannot follow its probability is off offer, unless a trader wants it to stand."""
    desk.server.go_live()
    desk.follow()
    desk.set(held=(HeldProbability("match_winner:", 1, "team=home", 0.96),))
    odds = [desk.of(1, f"team={team}").odds for team in ("home", "away")]
    assert odds == [Decimal("1.010"), Decimal("14.306")]
    assert all(desk.on_offer(1, f"team={team}") for team in ("home", "away"))


def test_a_held_probability_ends_with_its_round(desk: Desk) -> None:
    hold_round_winner(desk)
    desk.server.opening_kill("home")
    assert not ended(desk)
    desk.follow()
    assert desk.of(13, ROUND.format(1, "home")).probability == 0.6
    desk.server.win("home")
    assert ended(desk)


def test_a_held_probability_ends_when_the_result_is_all_but_certain(desk: Desk) -> None:
    hold_round_winner(desk)
    desk.server.go_live()
    for seat in range(4):
        desk.server.kill("away", seat, seat)
    assert ended(desk), "one against five"


def test_a_held_probability_ends_with_its_own_map(desk: Desk) -> None:
    """One about the match ends with the map in play, one about the next map goes on."""
    about = {"": 1, "map=1|": 6, "map=2|": 6}
    desk.set(
        held=tuple(
            HeldProbability(f"g{number}", kind, f"{where}team=home", 0.6)
            for number, (where, kind) in enumerate(about.items())
        )
    )
    changes = [MapFinished(MapPlay(1, "de_dust2", "finished")), RoundsVoided(1, ())]
    for change in changes:
        match = desk.trader.match
        kept = without_ended(match, [change], desk.trader.book, desk.server.now, PRICING)
        assert [one.specifiers for one in kept.controls.held] == ["map=2|team=home"]


def test_a_held_probability_ends_when_the_guard_acts(desk: Desk) -> None:
    hold_round_winner(desk)
    assert not ended(desk)
    desk.server.match = raise_doubt(desk.server.match, PRICE, "a price moved without a cause")
    assert ended(desk)


def test_a_held_price_is_not_due_because_the_model_has_another(desk: Desk) -> None:
    desk.server.go_live()
    desk.follow()
    hold_round_winner(desk, 0.9)
    due = desk.trader.react().reprice_at
    assert due is not None and due > desk.trader.now + 5000


@pytest.mark.parametrize(
    ("held", "other", "related"),
    [
        ((13, "map=1|round=3|team=home"), (6, "map=1|team=home"), True),
        ((13, "map=1|round=3|team=home"), (1, "team=home"), True),
        ((13, "map=1|round=3|team=home"), (13, "map=1|round=4|team=home"), False),
        ((13, "map=1|round=3|team=home"), (18, "map=1|round=3"), True),
        ((18, "map=1|round=3"), (6, "map=1|team=home"), True),
        ((14, "map=1|round=3|team=home"), (6, "map=1|team=home"), False),
        ((14, "map=1|round=3|team=home"), (13, "map=1|round=3|team=home"), True),
        ((6, "map=2|team=home"), (6, "map=1|team=home"), False),
        ((6, "map=2|team=home"), (5, "home_maps=2|away_maps=0"), True),
        ((6, "map=2|team=home"), (13, "map=1|round=3|team=home"), False),
        ((36, PLAYER), (36, "map=1|player=mf:player:8|threshold=15.5"), False),
        ((36, PLAYER), (37, "map=1|player=mf:player:7|threshold=16.5"), True),
        ((36, PLAYER), (8, "map=1|threshold=20.5"), True),
    ],
)
def test_what_contradicts_a_held_probability(
    held: tuple[int, str], other: tuple[int, str], related: bool
) -> None:
    assert contradicts(held, other) is related
    assert contradicts(other, held) is related


def skill(desk: Desk) -> float:
    return Forecast(collect_facts(desk.trader.match, ()), desk.trader.now).skill.mean


def test_a_shift_moves_the_skill_from_where_it_is(desk: Desk) -> None:
    """The rounds so far count at the skill of their time: the estimate moves by the shift alone."""
    desk.rounds("home", "home", "away", "home")
    before = skill(desk)
    by = 150.0
    desk.set(shifts=(StrengthShift(1, 4, by),))
    shifted = skill(desk)
    fresh = Desk()
    unplayed = skill(fresh)
    fresh.set(shifts=(StrengthShift(1, 0, by),))
    assert shifted - before == pytest.approx(skill(fresh) - unplayed, abs=0.01)
    desk.rounds("away", "away", "away")
    assert skill(desk) < shifted, "rounds go on counting"


def test_taking_back_a_change_leaves_other_changes() -> None:
    before = TradingControls(closed_types=(ClosedType(8),))
    after = replace(before, max_move=0.2, margins=(MarginControl(0.08),))
    now = replace(after, closed_types=(), suspended_groups=(SuspendedGroup("g"),))
    assert taken_back(now, before, after) == replace(now, max_move=0.0, margins=())
    assert taken_back(replace(now, max_move=0.3), before, after) is None
    assert taken_back(before, after, before) == after


def test_a_market_has_what_a_profile_needs(desk: Desk) -> None:
    """With the margin that a trader left alone, a profile of the standard margin makes the standard odds; and
    what the trader changes about a margin multiplies the profile's."""
    desk.trader.checking = False
    standard = Profile("standard", 1, (MarginControl(PRICING.margin),))
    desk.set(margins=(MarginControl(2 * PRICING.margin, family="map_winner"),))
    desk.rounds(*["home"] * 11)
    active = desk.trader.active()
    assert {one.phase for one in active if one.specifiers.startswith("map=1")} == {"in_play"}
    groups = Counter(one.group for one in active)
    for one in active:
        assert one.group_size == groups[one.group]
        assert one.margin_factor == (2 if one.family == "map_winner" else 1)
        if all(1.02 < each.odds < 49 for each in active if each.group == one.group):
            assert standard.odds(one) == pytest.approx(one.odds, abs=Decimal("0.0011"))
    desk.rounds("home")
    assert desk.of(13, ROUND.format(13, "home")).phase == "last_rounds"
    desk.set(margins=())
    assert {one.margin_factor for one in desk.trader.book.values() if one.status is MarketStatus.ACTIVE} == {
        1
    }
