"""The state of the real log's rounds: compared with an independent reading, and with lines missing."""

import random
import re
from collections.abc import Iterable
from itertools import pairwise
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from app.domain.facts import DataComplete, DataLost, Fact, FreezeStarted
from app.domain.loadout import Loadout, equipment_value
from app.domain.match import Match
from app.ingest import cs2log
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts
from app.trading.round_state import RoundState, SideState
from app.trading.round_view import round_state
from tests.unit.domain.play import fold_arrived
from tests.unit.trading.true_round import TrueLog, read_true, stamp

ROUND_SECONDS = 115.2  #: as this server's settings say
MOST_MONEY, MOST_WEAPONS, MOST_UTILITY = 80_000, 5 * 8_000, 5 * 1_500
Views = dict[int, tuple[Match, RoundState | None]]  #: by line


def views(lines: Iterable[tuple[int, str]], gap: range = range(0)) -> Views:
    """The match and its round after each line; the lines of `gap` are known to be missing."""
    match = Match(id=UUID(int=1), number=1, home="rvls test team 1", away="rvls test 2", event="Cup")
    found: Views = {}
    lost = False
    for index, line in lines:
        at = stamp(line)
        facts: list[Fact] = list(cs2log.read(line, at).facts)
        if index in gap:
            facts, lost = [DataLost(at=at, reason="gap")], True
        elif lost and any(isinstance(fact, FreezeStarted) for fact in facts):
            facts, lost = [DataComplete(at=at), *facts], False
        match, _ = fold_arrived(match, facts)
        found[index] = match, round_state(match, at)
    return found


@pytest.fixture(scope="module")
def lines(real_log: str) -> list[tuple[int, str]]:
    return list(enumerate(real_log.splitlines()))


@pytest.fixture(scope="module")
def whole(lines: list[tuple[int, str]]) -> Views:
    return views(lines)


@pytest.fixture(scope="module")
def truth(real_log: str) -> TrueLog:
    return read_true(real_log)


def sides(state: RoundState) -> dict[str, SideState]:
    return {"CT": state.ct, "T": state.t}


def test_alive_health_and_money_are_as_read_independently(whole: Views, truth: TrueLog) -> None:
    compared = 0
    for moment in truth.moments:
        state = whole[moment.line][1]
        if state is None:
            continue
        for side, seen in sides(state).items():
            true = moment.alive[side], moment.health[side], moment.money[side]
            assert (seen.alive, seen.health, seen.money) == true, moment
            compared += 1
    assert compared == 2 * len(truth.moments) > 2 * 100


def test_the_state_is_complete_and_plausible_at_the_end_of_each_freeze_time(
    whole: Views, truth: TrueLog
) -> None:
    starts = [moment for moment in truth.moments if moment.what == "start"]
    assert len(starts) == 15
    for moment in starts:
        state = whole[moment.line][1]
        assert state is not None and (state.phase, state.seconds_left) == ("live", ROUND_SECONDS)
        for seen in sides(state).values():
            assert None not in msgspec.structs.astuple(seen)
            assert (seen.alive, seen.health) == (5, 500)
            assert 0 <= (seen.money or 0) <= MOST_MONEY
            assert 5 * 200 <= (seen.weapons or 0) <= MOST_WEAPONS
            assert 0 <= (seen.utility or 0) <= MOST_UTILITY
            assert 0 <= (seen.armour or 0) <= 500 and 0 <= (seen.losses or 0) <= 4


def test_the_economy_of_a_round_is_the_same_until_somebody_dies(
    whole: Views, truth: TrueLog, lines: list[tuple[int, str]]
) -> None:
    """Players leave the buy zone one by one: what those who are still in it have counts, too. A purchase is
    several lines of one second."""
    for start, after in pairwise(truth.moments):
        if start.what != "start":
            continue
        ends = {stamp(line): index for index, line in lines[start.line : after.line]}
        matches = [whole[index][0] for index in (start.line, *ends.values())]
        seen = {Forecast(collect_facts(match, ()), match.last_arrived_at).economy for match in matches}
        assert len(ends) > 3 and len(seen) == 1 and None not in seen, start


def test_the_clock_is_the_logs_own(whole: Views, truth: TrueLog) -> None:
    for moment in truth.moments:
        state = whole[moment.line][1]
        if state is not None and state.phase == "live":
            assert state.seconds_left == pytest.approx(ROUND_SECONDS - moment.seconds_live)


def test_the_plant_and_the_defuses(whole: Views, lines: list[tuple[int, str]]) -> None:
    at = {
        found[1]: index
        for index, line in lines
        if (found := re.search(r'triggered "(\w*(?:Bomb|Defuse)\w*)"', line))
    }
    planted = whole[at["Planted_The_Bomb"]][1]
    first, second = whole[at["Begin_Bomb_Defuse_With_Kit"]][1], whole[at["Begin_Bomb_Defuse_Without_Kit"]][1]
    begun = whole[at["Bomb_Begin_Plant"]][1]
    assert begun is not None and planted is not None and first is not None and second is not None
    assert (begun.phase, begun.plant_seconds_left) == ("live", 3.2)
    assert (planted.phase, planted.seconds_left, planted.defuse) == ("planted", 40, None)
    assert first.defuse is not None and (first.defuse.kit, first.defuse.seconds_left) == (True, 5)
    assert second.defuse is not None and (second.defuse.kit, second.defuse.seconds_left) == (False, 10)
    between = [
        state
        for index in range(at["Begin_Bomb_Defuse_With_Kit"], at["Begin_Bomb_Defuse_Without_Kit"])
        if (state := whole[index][1]) is not None
    ]
    assert between[0].defuse is not None
    assert between[-1].defuse is None, "the first defuser died"


def test_prices_are_those_that_players_paid(truth: TrueLog) -> None:
    paid = {(item, price) for item, price in truth.prices if (item, price) != ("item_assaultsuit", 350)}
    assert len(paid) > 30
    assert {(item, equipment_value([item])) for item, _ in paid} == paid


def test_equipment_is_what_players_leave_the_buy_zone_with(whole: Views, truth: TrueLog) -> None:
    """And was followed rightly before that line, but for what they gave to each other and used up."""
    followed = 0
    for line, account, items in truth.lists:
        listed = equipment_value(item for item in items if item != "C4")
        after, before = (loadout(whole[index][0], account) for index in (line, line - 1))
        assert listed is not None
        assert worth(after) - 200 * (after.weapons.count("flashbang") > 1) == listed
        followed += worth(before) == worth(after)
    assert (len(truth.lists), followed) == (152, 144)


def loadout(match: Match, account: int) -> Loadout:
    return next(row for row in match.loadouts if row.account == account)


def worth(row: Loadout) -> int:
    worn = ["kevlar"] * (row.armour > 0) + ["helmet"] * row.helmet + ["defuser"] * row.kit
    value = equipment_value([*row.weapons, *worn])
    assert value is not None
    return value


MONEY = re.compile(r'money change|"player_\d+" : ')
ITEMS = re.compile(r"(picked up|purchased|left buyzone|threw|dropped) ")
HITS = re.compile(r"\] attacked ")


@pytest.mark.parametrize(
    ("pattern", "unknown"),
    [
        (MONEY, {"money"}),
        (ITEMS, {"weapons", "utility", "armour", "helmets", "kits"}),
        (HITS, {"health", "armour"}),
    ],
)
def test_without_some_lines_what_they_show_is_unknown_and_the_rest_is_right(
    lines: list[tuple[int, str]], whole: Views, truth: TrueLog, pattern: re.Pattern[str], unknown: set[str]
) -> None:
    less = views((index, line) for index, line in lines if not pattern.search(line))
    seen: set[str] = set()
    for moment in truth.moments:
        state, true = less[moment.line][1] if moment.line in less else None, whole[moment.line][1]
        assert state is not None and true is not None
        for side, view in sides(state).items():
            # What was given back in the freeze time is seen by the money, and again in the buy zone's list.
            if moment.what == "kill":
                assert wrong(view, sides(true)[side]) == {}, moment
            seen |= {name for name, value in msgspec.structs.asdict(view).items() if value is None}
    assert seen == unknown


def wrong(view: SideState, true: SideState) -> dict[str, tuple[int, int]]:
    """What is view otherwise than it is. Of two flashbangs the buy zone's list shows one; what armour is
    worth depends on its points, which hits show."""
    pairs = zip(msgspec.structs.asdict(view).items(), msgspec.structs.astuple(true), strict=True)
    known = {name: (one, other) for (name, one), other in pairs if one is not None and other is not None}
    allowed = {"utility": 3 * 200, "weapons": 0 if view.armour is not None else 2 * 650}
    return {
        name: (one, other) for name, (one, other) in known.items() if abs(one - other) > allowed.get(name, 0)
    }


def test_a_log_that_begins_anywhere_shows_nothing_wrong(lines: list[tuple[int, str]], whole: Views) -> None:
    chance = random.Random(19)
    for first in [chance.randrange(len(lines) - 400) for _ in range(12)]:
        shows_nothing_wrong(views(lines[first:]), whole, range(first))


def test_after_a_gap_anywhere_nothing_wrong_is_shown(lines: list[tuple[int, str]], whole: Views) -> None:
    chance = random.Random(91)
    for _ in range(12):
        first = chance.randrange(1100, len(lines) - 600)
        gap = range(first, first + chance.choice((1, 30, 300)))
        shows_nothing_wrong(views(lines, gap), whole, gap)


def shows_nothing_wrong(less: Views, whole: Views, missing: range) -> None:
    """What is known with lines missing is what is known without, and is known again in the end."""
    complete = 0
    for index, (match, state) in less.items():
        true = whole[index][1]
        if state is None or true is None or index in missing or match.doubts:
            continue
        if state.number != true.number:
            assert state.phase == "freeze", "the score comes some lines after the beginning of a freeze time"
            continue
        assert state.phase == true.phase
        if state.phase != "freeze" and state.seconds_left is not None:
            # Where the server's settings were not seen, a round has 115 seconds.
            assert state.seconds_left == pytest.approx(true.seconds_left, abs=0.21)
        for side, view in sides(state).items():
            assert wrong(view, sides(true)[side]) == {}, index
        # The loss bonus of a half of which a round was not seen stays unknown.
        shown = [replace(side, losses=0) for side in (state.ct, state.t)]
        complete += not any(None in msgspec.structs.astuple(side) for side in shown)
    assert complete
