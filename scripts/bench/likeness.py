"""How near the simulator's maps are to real ones.

    python -m scripts.bench.likeness [--maps 200]

Simulated maps are read from their logs by the product, looked at every 20 seconds as `csgo_round_snapshots`
was, and compared with it: who wins with how many players alive, by equipment and by who won the round before,
how many rounds are still played after how many seconds. Lengths of maps and half-times are compared with
`cs2_results_2026`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random

import click
import msgspec

from app.domain.match import MapPlay
from app.domain.transitions import fold
from app.ingest import cs2log
from app.sandbox.simulator.match_simulation import new_truth, play
from app.trading.round_state import RoundState
from app.trading.round_view import round_state
from scripts.bench.courtsider_play import batches
from scripts.bench.simulated_maps import BEGIN, match_of, plan_of
from scripts.reality import cs2_scores
from scripts.reality.labels import round_winners
from scripts.reality.place import real_data
from scripts.reality.snapshots import half_of, read

#: Seconds between two looks at a round, and how often the first one comes how late.
_PERIOD, _OFFSETS, _OFFSET_SHARES = 20, (0, 5, 10, 15), (70, 16, 11, 3)
_HALF_MAPS, _LEAST = 12, 15


class SeenRound(msgspec.Struct):
    """A round: what was seen of it, whether CT won it, which of the half it is (from 1), and whether CT won
    the one before."""

    states: list[RoundState]
    ct_won: bool
    number: int
    before: bool | None


class Share(msgspec.Struct):
    """How often something was so."""

    count: int = 0
    so: float = 0.0

    def add(self, so: float) -> None:
        self.count += 1
        self.so += so

    @property
    def text(self) -> str:
        return f"{self.so / self.count:.2f} ({self.count})" if self.count >= _LEAST else "–"


Shares = dict[str, Share]  #: by what they say, in the order in which they are printed


class MapResult(msgspec.Struct, frozen=True):
    """A map by rounds: the leader's at half-time (0 when level), whether the leader won, regulation's rounds,
    overtime."""

    lead: int
    leader_won: bool
    rounds: int
    overtime: bool


def simulated(seed: int) -> tuple[list[SeenRound], MapPlay]:
    """The rounds of a simulated map as the product sees them."""
    plan = plan_of(seed)
    match = match_of(plan)
    rng, seen, due = Random(f"looks at {seed}"), defaultdict[int, list[RoundState]](list), math.inf
    lines = ((line.at, line.text) for line in play(plan, new_truth(plan)))
    for batch in batches(lines):
        now = BEGIN + batch.second * 1000
        while due <= now:
            state = round_state(match, int(due))
            if state is not None and match.current and state.phase != "freeze":
                seen[match.current.number].append(state)
            due += _PERIOD * 1000
        before = match.current
        match, _ = fold(match, cs2log.read(batch.text, now).facts)
        current = match.current
        if current and current.phase == "live" and not (before and before.phase == "live"):
            due = now + 1000 * rng.choices(_OFFSETS, _OFFSET_SHARES)[0]
    rounds = match.maps[0].counted
    winners = {one.number: one.winning_side == "CT" for one in rounds}
    return [
        SeenRound(seen[number], won, (number - 1) % _HALF_MAPS + 1, _swapped(winners.get(number - 1), number))
        for number, won in winners.items()
        if number <= 2 * _HALF_MAPS
    ], match.maps[0]


def _swapped(before: bool | None, number: int) -> bool | None:
    return None if number == _HALF_MAPS + 1 else before


def real(path: Path) -> list[SeenRound]:
    """The rounds of regulation time of the snapshots."""
    snapshots = list(read(path))
    winners, rounds = round_winners(snapshots), dict[tuple[int, int], SeenRound]()
    for one in snapshots:
        half, position = half_of(one.round_index)
        if half > 1:
            continue
        before = one.previous if position else None
        seen = rounds.setdefault(one.key, SeenRound([], winners[one.key], position + 1, before))
        if one.state.phase != "freeze":
            seen.states.append(one.state)
    return list(rounds.values())


def shares(rounds: Iterable[SeenRound]) -> Shares:
    found: Shares = defaultdict(Share)
    for one in rounds:
        found["CT wins"].add(one.ct_won)
        found["a plant is seen"].add(any(state.phase == "planted" for state in one.states))
        if one.before is not None:
            name = one.number if one.number < _MANY else f"{_MANY} and later"
            found[f"wins again, round {name}"].add(one.before == one.ct_won)
        _see(one, found)
    return found


_MANY = 5


def _see(one: SeenRound, found: Shares) -> None:
    for index, state in enumerate(one.states):
        ct, t = state.ct.alive, state.t.alive
        if ct and t:
            found[f"CT wins, {ct} v {t}, {state.phase}"].add(one.ct_won)
        if state.phase == "live" and index == 0 and ct == t == _FULL and state.ct.weapons and state.t.weapons:
            ratio = math.log((state.ct.weapons + 1500) / (state.t.weapons + 1500))
            found[f"CT wins, equipment e^{max(-1.5, min(1.5, round(2 * ratio) / 2)):+.1f}"].add(one.ct_won)
    for seconds in (95, 75, 55, 35, 15):
        lasts = [state for state in one.states if state.phase == "live" and _near(state, seconds)]
        found[f"unplanted with {seconds} s left"].add(bool(lasts))
        for state in lasts:
            found[f"players alive with {seconds} s left"].add(state.ct.alive + state.t.alive)
    for state in one.states:
        if state.phase == "planted" and state.seconds_left is not None:
            found["fuse below 20 s, of looks at it"].add(state.seconds_left < 20)


_FULL = 5


def _near(state: RoundState, seconds: float) -> bool:
    half = _PERIOD / 2
    return state.seconds_left is not None and -half <= state.seconds_left - seconds < half


def result(half: tuple[int, int], regulation: tuple[int, int]) -> MapResult:
    """From the scores at half-time and after regulation."""
    lead = max(half) if half[0] != half[1] else 0
    leader_won = (half[0] > half[1]) == (regulation[0] > regulation[1])
    return MapResult(lead, leader_won, sum(regulation), regulation[0] == regulation[1])


def simulated_map(play: MapPlay) -> MapResult:
    rounds = [one for one in play.counted if one.number <= 2 * _HALF_MAPS]
    middle, last = rounds[_HALF_MAPS - 1], rounds[-1]
    return result((middle.home_score, middle.away_score), (last.home_score, last.away_score))


def map_shares(maps: Iterable[MapResult]) -> Shares:
    found: Shares = defaultdict(Share)
    for one in maps:
        found["rounds of regulation time"].add(one.rounds)
        found["overtime"].add(one.overtime)
        if one.lead and not one.overtime:
            found[f"the leader at half-time wins, {one.lead}:{_HALF_MAPS - one.lead}"].add(one.leader_won)
    return found


def table(ours: Mapping[str, Share], theirs: Mapping[str, Share]) -> Iterator[str]:
    yield "| | simulated | real |"
    yield "|---|---|---|"
    for name in sorted(theirs):
        if theirs[name].count >= _LEAST:
            yield f"| {name} | {ours[name].text if name in ours else '–'} | {theirs[name].text} |"


@click.command()
@click.option("--maps", default=200, show_default=True)
def main(maps: int) -> None:
    """Compare, and print what `docs/pricing.md` shows."""
    folder, rounds, plays = real_data(), list[SeenRound](), list[MapPlay]()
    with click.progressbar(range(maps), label="maps") as seeds:
        for seed in seeds:
            seen, played = simulated(seed)
            rounds += seen
            plays.append(played)
    theirs = shares(real(folder / "csgo_round_snapshots.csv.gz"))
    click.echo("\n".join(table(shares(rounds), theirs)))
    click.echo()
    results = cs2_scores.read_results(folder / cs2_scores.RESULTS)
    found = map_shares(result(one.half, one.regulation) for one in results)
    click.echo("\n".join(table(map_shares(map(simulated_map, plays)), found)))


if __name__ == "__main__":
    main()
