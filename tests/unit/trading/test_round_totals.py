"""The kills and deaths of each round against the server's statistics block: of a simulated log, lines are
lost, written so that nobody understands them, or added. What is published is what the whole log gives, or it
waits."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from os.path import commonprefix

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.market import Result
from app.domain.round_totals import rounds_in_doubt
from app.ingest.cs2log import read
from app.sandbox.simulator.match_simulation import MatchPlan, new_truth, play
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from tests.support.simulated import plan_between
from tests.unit.trading.trader import Trader, new_match

Damage = list[tuple[tuple[int, int], str]]  #: the line and round of a kill, and what becomes of it
Lines = list[tuple[int, str]]  #: the second in which each was written, and its text
_KILL = re.compile(r'" \[[^]]*\] killed "')
_ROW = re.compile(r'"player_\d+" : " *[1-9]\d*, *(\d),')
_SIDES = {"2": "TERRORIST", "3": "CT"}
_STAMP = re.compile(r"^(?:L )?\S+ - \S+ ")
EVERY = 10  #: bodies
PLAN = plan_between(3, 10, 3, best_of=1, brief=True)


def log_of(plan: MatchPlan) -> Lines:
    return [(int(line.at), line.text) for line in play(plan, new_truth(plan))]


LOG = log_of(PLAN)


def bodies_of(lines: Lines) -> list[tuple[int, str]]:
    """The log in bodies of five seconds, each with its number."""
    groups = groupby(lines, key=lambda line: line[0] // 5)
    return [(five, "\n".join(text for _, text in group) + "\n") for five, group in groups]


def go_on(trader: Trader, bodies: Sequence[tuple[int, str]]) -> None:
    for five, body in bodies:
        trader.apply(read(body, PLAN.begin + (five + 1) * 5000).facts)


@cache
def on_the_way() -> list[Trader]:
    """The trader before every tenth body of the log as it is."""
    bodies, trader, found = bodies_of(LOG), Trader.opened(new_match(PLAN), checking=False), []
    for start in range(0, len(bodies) + 1, EVERY):
        found.append(trader.copy())
        go_on(trader, bodies[start : start + EVERY])
    return found


def traded(lines: Lines) -> Trader:
    """After the whole log; what it has in common with the log as it is, is read once for all."""
    bodies, traders = bodies_of(lines), on_the_way()
    same = len(commonprefix([bodies, bodies_of(LOG)])) // EVERY
    trader = traders[same].copy()
    go_on(trader, bodies[same * EVERY :])
    trader.checking = True
    trader.react()
    return trader


@pytest.fixture(scope="module")
def plain() -> Trader:
    """Of the log as it is."""
    return traded(LOG)


def rounds_of(lines: Lines) -> list[tuple[int, int]]:
    """The indices of the lines of kills after the last restart, each with the number of its round."""
    found, number = [], 0
    for index, (_, text) in enumerate(lines):
        if "Match_Start" in text:
            found, number = [], 1
        elif "Starting Freeze period" in text and found and found[-1][1] == number:
            number += 1
        elif _KILL.search(text) and number:
            found.append((index, number))
    return found


KILLS = rounds_of(LOG)
LAST = KILLS[-1][1]


def test_the_log_is_one_of_many_rounds_without_a_doubt(plain: Trader) -> None:
    assert LAST >= 13 and len({number for _, number in KILLS}) == LAST
    assert not rounds_in_doubt(plain.match) and not plain.open()


def unread(text: str) -> str:
    """The line as one that looks like a kill and cannot be parsed."""
    return text.replace("] killed ", "] killed, ", 1).replace('] killed, "', '] was killed by "', 1)


def not_a_kill(second: int) -> tuple[int, str]:
    stamp = _STAMP.match(LOG[0][1])
    assert stamp is not None
    return second, f'{stamp[0]}"somebody<3><[U:1:77]><CT>" [0 0 0] killed by the ghost of "a stranger"'


damage = st.lists(
    st.tuples(st.sampled_from(KILLS), st.sampled_from(("lost", "unread", "added"))),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one[0],
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damage=damage)
def test_what_differs_from_the_whole_log_waits(plain: Trader, damage: Damage) -> None:
    check_damaged(plain, damage)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(damage=damage)
def test_the_same_of_many_damaged_logs(plain: Trader, damage: Damage) -> None:
    check_damaged(plain, damage)


def check_damaged(plain: Trader, damage: Damage) -> None:
    lines, missing, added = list(LOG), set(), set()
    for (index, number), kind in sorted(damage, reverse=True):
        second, text = lines[index]
        if kind == "lost":
            del lines[index]
            missing.add(number)
        elif kind == "unread":
            lines[index] = second, unread(text)
            missing.add(number)
        else:
            lines.insert(index, not_a_kill(second))
            added.add(number)
    lost_at_end = {number for (_, number), kind in damage if kind == "lost" and number == LAST}
    unread_at_end = {number for (_, number), kind in damage if kind != "lost" and number == LAST}
    trader = traded(lines)
    doubted = {one.number for one in rounds_in_doubt(trader.match)}
    assert doubted == (missing - lost_at_end) | unread_at_end
    for key, market in trader.book.items():
        known, number = plain.book.get(key), parse_specifiers(key[1]).round
        if RULES[key[0]].subject is None or (number and number not in missing | unread_at_end):
            assert known is None or market.result is known.result, market


@pytest.mark.parametrize("kind", ["lost", "unread"])
def test_a_kill_that_is_not_in_the_log_suspends_and_leaves_player_kills_open(kind: str) -> None:
    index = next(index for index, number in KILLS if number == 4)
    second, text = LOG[index]
    changed = [] if kind == "lost" else [(second, unread(text))]
    trader = traded([*LOG[:index], *changed, *LOG[index + 1 :]])
    left = {market.type_id for market in trader.open()}
    assert {36, 37} <= left
    assert {one.doubted_by for one in rounds_in_doubt(trader.match)} == {
        "statistics" if kind == "lost" else "kill_line"
    }
    of_match = [one for one in trader.book.values() if one.type_id in (1, 6, 13)]
    assert all(market.result in (Result.WON, Result.LOST, Result.VOID) for market in of_match)


def test_a_line_that_was_no_kill_changes_nothing_in_the_end(plain: Trader) -> None:
    index = next(index for index, number in KILLS if number == 4)
    trader = traded([*LOG[:index], not_a_kill(LOG[index][0]), *LOG[index:]])
    assert not rounds_in_doubt(trader.match) and not trader.open()
    both = trader.book.keys() & plain.book.keys()
    assert len(both) > 200
    assert {key for key in both if trader.book[key].result is not plain.book[key].result} == set()


def test_columns_in_another_order_are_not_compared() -> None:
    swapped = [(at, text.replace("kills, deaths", "deaths, kills", 1)) for at, text in LOG]
    index = next(index for index, number in KILLS if number == 4)
    trader = traded([*swapped[:index], *swapped[index + 1 :]])
    assert not rounds_in_doubt(trader.match)


def test_a_coach_whom_the_server_kills_in_each_freeze_time_changes_nothing(plain: Trader) -> None:
    """On the list, too, with deaths that the server counts; a line that was no kill is found to be none."""
    index = next(index for index, number in KILLS if number == 4)
    trader = traded(with_coach([*LOG[:index], not_a_kill(LOG[index][0]), *LOG[index:]]))
    assert not rounds_in_doubt(trader.match) and not trader.open()
    assert len(trader.match.presence.coaches) == 0 and trader.match.over
    both = trader.book.keys() & plain.book.keys()
    assert len(both) > 200
    assert {key for key in both if trader.book[key].result is not plain.book[key].result} == set()


def with_coach(lines: Lines) -> Lines:
    """The log with a sixth person on the side of the list's first player."""
    found: Lines = []
    team, deaths = "", 0
    for second, text in lines:
        if row := _ROW.search(text):
            team = team or row[1]
        if "}}JSON_END" in text and team in _SIDES:
            stamp = _STAMP.match(text)
            assert stamp is not None
            numbers = ",".join(f"{number:>7}" for number in (299, team, 800, 0, deaths, *[0] * 21))
            found.append((second, f'{stamp[0]}"player_99" : "{numbers}"'))
            found.append((second, text))
            side = f'{stamp[0]}"coach<99><[U:1:299]><{_SIDES[team]}>"'
            found.append((second, f'{side} [0 0 0] committed suicide with "world"'))
            team, deaths = "", deaths + 1
        else:
            found.append((second, text))
    return found
