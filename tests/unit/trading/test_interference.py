"""Operators act while a server reports: whatever they do, the book stays consistent (`Trader` checks)."""

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.domain.changes import MatchAndChanges
from app.domain.fixture import rename_team, set_format
from app.domain.lifecycle import award_map, award_match, cancel, suspend, unsuspend
from app.domain.match import Match
from app.kit.errors import Conflict
from tests.unit.domain.play import new_match
from tests.unit.domain.test_properties import stories
from tests.unit.trading.test_invariants import batches, sizes
from tests.unit.trading.trader import Trader

Move = Callable[[Match, int], MatchAndChanges]
MOVES: dict[str, Move] = {
    "award the map to home": lambda match, now: award_map(match, "home", now),
    "award the map to away": lambda match, now: award_map(match, "away", now),
    "award the match": lambda match, now: award_match(match, "away", now),
    "cancel": cancel,
    "rename": lambda match, now: rename_team(match, "home", "Amber Wolves"),
    "suspend": lambda match, now: suspend(match, "look"),
    "unsuspend": lambda match, now: unsuspend(match),
    "best of one": lambda match, now: set_format(match, best_of=1),
    "best of five": lambda match, now: set_format(match, best_of=5),
    "four rounds": lambda match, now: set_format(match, max_rounds=4),
    "thirty rounds": lambda match, now: set_format(match, max_rounds=30),
    "no overtime": lambda match, now: set_format(match, overtime_rounds=0),
}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stories(), sizes, st.lists(st.tuples(st.integers(0, 40), st.sampled_from(sorted(MOVES))), max_size=4))
def test_operators_may_act_at_any_time(
    account: list[f.Fact], cut: list[int], acts: list[tuple[int, str]]
) -> None:
    trader = Trader.opened(new_match(best_of=3))
    for step, batch in enumerate(batches(account, cut)):
        for _, name in filter(lambda act: act[0] == step, acts):
            act(trader, MOVES[name])
        trader.apply(batch)


def act(trader: Trader, move: Move) -> None:
    """Do it, if it is possible now."""
    try:
        trader.match, changes = move(trader.match, trader.now)
    except Conflict:
        return
    trader.react(changes)
