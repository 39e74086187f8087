"""How many envelopes of the feed a simulated map takes, and how many of them time alone causes.

The engine follows the logs of simulated maps as an ingest process does: a batch a second, and between two
batches a reprice whenever a price no longer stands.

    python -m scripts.bench.envelopes --maps 20
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import click
from msgspec.structs import replace

from app.commands import change_drafts
from app.domain.changes import MatchChange
from app.domain.market import Book
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import log_facts
from app.ingest.cs2log import read
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.store.changes import ChangeDraft
from app.trading import engine
from app.trading.price_guard import unexplained_move
from app.trading.pricing import PricingConfig
from scripts.bench.simulated_maps import match_of

_BEGIN = 1_800_000_000_000
_SECOND = 1_000
Batch = tuple[int, str]  #: when it arrives (Unix ms), and its lines


def batches(seed: int) -> tuple[Match, list[Batch]]:
    """A match of one map, and its log as batches of a second each."""
    teams = fictional_world().teams
    home, away = teams[seed % len(teams)], teams[(seed * 7 + 1) % len(teams)]
    if home is away:
        away = teams[(seed + 1) % len(teams)]
    plan = MatchPlan(home, away, seed, _BEGIN)
    lines, _ = simulate(plan)
    by_second = groupby(lines, key=lambda line: int(line.at))
    return match_of(plan), [
        (_BEGIN + (second + 1) * _SECOND, "".join(f"{line.text}\n" for line in of_second))
        for second, of_second in by_second
    ]


class MapEnvelopes:
    """The envelopes of one match by cause (`line` or `time`) and message."""

    def __init__(self, match: Match, pricing: PricingConfig) -> None:
        self.match = match
        self.pricing = pricing
        self.book: Book = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        self.due_at: int | None = None
        self.unexplained: list[str] = []
        self._last_batch = 0

    def follow(self, log: Sequence[Batch]) -> None:
        """Apply the log, repricing whenever a price no longer stands before the next batch."""
        for (arrived_at, text), (following, _) in pairwise([*log, (log[-1][0] + _SECOND, "")]):
            facts = log_facts.fit_between(read(text, arrived_at).facts, self._last_batch, arrived_at)
            before, self._last_batch = self.match, arrived_at
            after, changes = fold(before, facts)
            self.match = replace(after, last_arrived_at=arrived_at)
            self._react("line", before, changes, arrived_at)
            while self.due_at is not None and self.due_at < following:
                self._react("time", self.match, (), self.due_at)

    def _react(self, cause: str, before: Match, changes: Sequence[MatchChange], now: int) -> None:
        reaction = engine.react(self.match, changes, self.book, now=now, may_price=True, pricing=self.pricing)
        rows = change_drafts.compose(
            before, self.match, changes, self.book, reaction.markets, reaction.entries
        )
        self.counts.update((cause, message) for message in _envelopes(rows))
        move = unexplained_move(before, self.match, changes, self.book, reaction.markets, now)
        if move is not None:
            self.unexplained.append(move.text)
        self.book |= {market.key: market for market in reaction.markets}
        self.due_at = reaction.reprice_at


def _envelopes(rows: Sequence[ChangeDraft]) -> Iterator[str]:
    """The message of each envelope: consecutive rows of one message and void window share one."""
    windows = ((row.message, row.entry.void_window if row.entry else None) for row in rows)
    return (message for (message, _), _ in groupby(windows) if message)


@click.command()
@click.option("--maps", default=20, show_default=True, help="Maps, with seeds from 0.")
@click.option("--step", default=PricingConfig().price_step, show_default=True, help="As PRICE_STEP.")
def main(maps: int, step: float) -> None:
    """Print envelopes a map, by cause and message, and the moves that the guard would have stopped."""
    total: Counter[tuple[str, str]] = Counter()
    unexplained = []
    for seed in range(maps):
        match, log = batches(seed)
        played = MapEnvelopes(match, PricingConfig(price_step=step))
        played.follow(log)
        total += played.counts
        unexplained += played.unexplained
    print("| cause | message | envelopes a map |")
    print("|---|---|---|")
    for (cause, message), count in sorted(total.items()):
        print(f"| {cause} | {message} | {count / maps:.1f} |")
    print(f"| all | all | {total.total() / maps:.1f} |")
    print(f"\nMoves of prices without a cause: {len(unexplained)}", *unexplained[:10], sep="\n")


if __name__ == "__main__":
    main()
