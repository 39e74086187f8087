"""Whatever traders and operators do in whatever order while a map is played: every group sums to its margin,
no bets together win whatever happens, the ledger agrees with the facts, nobody alone changes a result that
was published long ago, and what the change log publishes folds to the book."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.commands import match_commands as c
from app.commands import trading_commands as t
from app.commands.match_commands import Command
from app.commands.undo import of_undoable_kind
from app.domain.facts import Paused, Resumed
from app.domain.market import Market, MarketKey, Result
from app.domain.match import Team
from app.kit.errors import Conflict, Invalid, NotFound
from app.trading.match_facts import MatchFacts, collect_facts
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from app.trading.settling import settlement_of
from tests.unit.commands.traded_map import TradedMap
from tests.unit.domain.play import SECOND, Server, new_match

PHASES = ("", "before_play", "in_play", "last_rounds")


@lru_cache(maxsize=2)
def outcomes(best_of: int) -> dict[tuple[int, int], tuple[MatchFacts, ...]]:
    """The facts when the first map has ended with each final score up to the second overtime, each score
    reached in two orders."""
    return {score: tuple(_ended(best_of, order) for order in _orders(*score)) for score in _final_scores()}


def _final_scores() -> Iterator[tuple[int, int]]:
    for winner, losers in ((13, range(12)), (16, range(12, 15)), (19, range(15, 18))):
        for loser in losers:
            yield winner, loser
            yield loser, winner


def _orders(home: int, away: int) -> Iterator[list[Team]]:
    """Two orders in which a map can end with this score: no side has won before its last round."""
    level = min(home, away, 12) if max(home, away) == 13 else (12 if max(home, away) == 16 else 15)
    names: tuple[Team, Team] = ("home", "away")
    rest: list[Team] = ["home"] * (home - level) + ["away"] * (away - level)
    last: Team = "home" if home > away else "away"
    rest.sort(key=lambda one: one == last)
    for first, second in (names, names[::-1]):
        halves: list[Team] = [first] * min(level, 12) + [second] * min(level, 12)
        yield halves + [first, second] * (level - min(level, 12)) + rest


def _ended(best_of: int, winners: list[Team]) -> MatchFacts:
    server = Server.started(new_match(best_of))
    for number, winner in enumerate(winners, start=1):
        server.round(winner)
        if number == 12:
            server.swap()
        if number < len(winners):
            server.freeze()
    server.game_over()
    assert server.match.maps[0].status == "finished", winners
    return collect_facts(server.match, ())


@lru_cache(maxsize=5_000)
def wins(best_of: int, key: MarketKey) -> frozenset[tuple[int, int]] | None:
    """The final scores of the map with which the market wins; None where it depends on more than that."""
    rule, specifiers = RULES[key[0]], parse_specifiers(key[1])
    if specifiers.round or specifiers.player:
        return None
    won = set()
    for score, orders in outcomes(best_of).items():
        results = {
            found.result if (found := settlement_of(rule, one, specifiers)) else None for one in orders
        }
        if len(results) != 1 or results & {None, Result.VOID}:
            return None
        if results == {Result.WON}:
            won.add(score)
    return frozenset(won)


def covering_pairs(traded: TradedMap) -> Iterator[tuple[Market, Market]]:
    """Pairs of markets on offer of which at least one wins with every score that the map can still end
    with."""
    play = traded.match.map
    score = (play.home_score, play.away_score) if play else (0, 0)
    reachable = {
        end
        for end in outcomes(traded.match.best_of)
        if end[0] >= score[0] and end[1] >= score[1] and end != score
    }
    winning = {
        market.key: (market, won & reachable)
        for market in traded.active()
        if (won := wins(traded.match.best_of, market.key)) is not None
    }
    for (one, of_one), (two, of_two) in combinations(winning.values(), 2):
        if of_one | of_two == reachable:
            yield one, two


def check_no_arbitrage(traded: TradedMap) -> int:
    """How many pairs were looked at."""
    count = 0
    for one, two in covering_pairs(traded):
        count += 1
        assert 1 / float(one.odds) + 1 / float(two.odds) >= 1 - 1e-3 / 2, (one, two)
    return count


shares = st.floats(0, 1, exclude_max=True)
PLAYS = ("home", "home", "away", "away", "kill", "plant", "wait", "pause")


def any_market(traded: TradedMap, share: float) -> Market:
    """An open market by its place."""
    found = sorted(traded.open(), key=lambda market: market.key)
    return found[int(share * len(found))]


def settled_market(traded: TradedMap, share: float) -> Market:
    found = sorted((one for one in traded.book.values() if one.closed), key=lambda market: market.key)
    return found[int(share * len(found))] if found else any_market(traded, share)


def on(kind: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Callable[[TradedMap], Command]]:
    def made(share: float, values: dict[str, Any]) -> Callable[[TradedMap], Command]:
        pick = settled_market if kind is c.RollBackMarket else any_market

        def command(traded: TradedMap) -> Command:
            market = pick(traded, share)
            given = {"market_id": market.type_id, "specifiers": market.specifiers, **values}
            if kind in (t.SuspendGroup, t.ReleaseGroup):
                given = {"group": market.group, **values}
            elif kind in (t.CloseType, t.OpenType, t.SetMargin, t.ClearMargin):
                del given["specifiers"]
            return kind(**given)  # type: ignore[no-any-return]

        return command

    return st.builds(made, shares, st.fixed_dictionaries(dict(fields)))


def plain(command: st.SearchStrategy[Command]) -> st.SearchStrategy[Callable[[TradedMap], Command]]:
    return command.map(lambda one: lambda _: one)


why, teams = st.just("r"), st.sampled_from(["team_a", "team_b"])
margins, phases = st.floats(0.005, 0.3), st.sampled_from(PHASES)
#: Commands that say nothing but which market, group or type they are about.
BARE = (t.SuspendMarket, t.ReleaseMarket, t.SuspendGroup, t.ReleaseGroup, t.CloseType, t.OpenType)
BARE += (t.AddLine, t.WithdrawLine, t.ReleaseProbability)
COMMANDS = st.one_of(
    *map(on, BARE),
    on(t.SetMargin, margin=margins, phase=phases, long_shots=st.floats(0, 1)),
    plain(st.builds(t.SetMargin, margin=margins, phase=phases, long_shots=st.floats(0, 1))),
    on(t.ClearMargin, phase=phases),
    plain(st.builds(t.SetMaxMove, max_move=st.sampled_from([0.0, 0.05, 0.5]))),
    plain(st.builds(t.ShiftStrength, team=teams, points=st.floats(-300, 300))),
    on(t.HoldProbability, probability=st.floats(0.03, 0.97)),
    on(t.HoldProbability, probability=st.floats(0.03, 0.97)),
    on(c.VoidMarket, reason=why),
    on(c.SettleMarket, reason=why, result=st.sampled_from(["won", "lost"])),
    on(c.RollBackMarket, reason=why, release=st.booleans()),
    plain(st.just(c.Suspend(reason="look"))),
    plain(st.just(c.Unsuspend())),
)


class Consent(NamedTuple):
    """Consent to one of the commands that wait, by its place."""

    share: float


#: What happens, or a command by what is on offer then, or which of the commands so far is taken back, or
#: which of those that wait is consented to.
STEPS = st.one_of(st.sampled_from(PLAYS), COMMANDS, COMMANDS, shares, st.builds(Consent, shares))


def play(traded: TradedMap, what: str) -> None:
    server = traded.server
    match what:
        case "home" | "away":
            server.round("home" if what == "home" else "away")
            if sum(server.score.values()) == 12:
                server.swap()
            server.freeze()
        case "kill":
            server.go_live()
            server.kill("home", 2, 2)
        case "plant":
            server.plant(server_t(server), 3)
        case "pause":
            server.report(Paused(at=server.later(), reason="TimeOutTs"))
            traded.follow()
            server.report(Resumed(at=server.later(30), reason="TimeOutTs"))
        case _:
            server.now += 10 * SECOND


def server_t(server: Server) -> Team:
    return "home" if server.home_side == "T" else "away"


def take(traded: TradedMap, step: Any) -> bool:
    """Whether it was done; what is refused has no effect."""
    before = traded.match, dict(traded.book), list(traded.ledger)
    old = traded.old_results()
    try:
        if isinstance(step, str):
            play(traded, step)
            traded.follow()
            return True
        if isinstance(step, Consent):
            if not traded.waiting:
                return False
            traded.consent(traded.waiting[int(step.share * len(traded.waiting))])
            return True
        if isinstance(step, float):
            undoable = [one for one in traded.executed if of_undoable_kind(one.command)]
            if not undoable:
                return False
            traded.undo(undoable[int(step * len(undoable))])
        else:
            traded.execute(step(traded))
    except (Conflict, NotFound, Invalid):
        assert (traded.match, traded.book, traded.ledger) == before
        return False
    now_old = traded.old_results()
    assert {key: now_old.get(key) for key in old} == old, "one person alone has changed an old result"
    return True


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    best_of=st.sampled_from([1, 3]),
    played=st.lists(st.sampled_from(["home", "away"]), max_size=16),
    steps=st.lists(STEPS, min_size=4, max_size=14),
)
def test_whatever_traders_do_while_play_goes_on(best_of: int, played: list[str], steps: list[Any]) -> None:
    traded = TradedMap(best_of)
    traded.server.start_map()
    for winner in played:
        if max(traded.server.score.values()) < 12:
            play(traded, winner)
    traded.follow()
    for step in steps:
        if isinstance(step, str) and max(traded.server.score.values()) == 12:
            step = "wait"
        take(traded, step)
        check_no_arbitrage(traded)


@pytest.mark.parametrize("best_of", [1, 3])
def test_the_check_for_arbitrage_sees_pairs_and_would_see_one(best_of: int) -> None:
    """It is no empty check: it looks at pairs of different groups, and fails when a price is above fair."""
    traded = TradedMap(best_of)
    traded.server.start_map()
    for winner in ("home", "away", "home", "home"):
        play(traded, winner)
    traded.follow()
    pairs = [(one, two) for one, two in covering_pairs(traded) if one.group != two.group]
    assert len(pairs) > 10
    one, two = pairs[0]
    traded.book[one.key] = replace(one, odds=one.odds * 2)
    traded.book[two.key] = replace(two, odds=two.odds * 2)
    with pytest.raises(AssertionError):
        check_no_arbitrage(traded)


def test_what_is_old_is_changed_with_consent_only() -> None:
    """It is no empty check: a result becomes old, a command then waits, and consent executes it."""
    traded = TradedMap(3)
    traded.server.start_map()
    for winner in ("home", "away"):
        play(traded, winner)
        traded.follow()
    traded.server.later(60)
    (key, result), *_ = traded.old_results().items()
    about: dict[str, Any] = {"market_id": key[0], "specifiers": key[1], "reason": "r"}
    command = c.RollBackMarket(**about)
    traded.execute(command)
    assert traded.waiting == [command]
    assert traded.old_results()[key] == result
    traded.consent(command)
    assert key not in traded.old_results() and not traded.waiting
    traded.execute(c.SettleMarket(result="won", **about))
    traded.execute(c.SettleMarket(result="lost", **about))
    assert traded.book[key].result is Result.LOST, "what is new is changed by one person"
