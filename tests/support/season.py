"""Simulated matches: their logs go through ingest, and their ground truth is available."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.domain.match import Match
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.sandbox.simulator.anomalies import LogLine
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.sandbox.simulator.truth import MapTruth, RoundTruth, SeriesTruth, Team
from app.store import matches
from app.store.connections import Store
from tests.support.matches import create_match


class Played(NamedTuple):
    """A match as it stands after its log, and what really happened in it."""

    match: Match
    plan: MatchPlan
    truth: SeriesTruth

    def home_or_away(self, team: str) -> Team:
        return "home" if self.truth.home == team else "away"


def batches(
    match: Match, log: Sequence[LogLine], begin: int, lines: int, instance: str = ""
) -> Iterator[Batch]:
    """A match's log, `lines` at a time, which arrive with the last of them; with offsets if the run of the
    server has a name."""
    of_match, offset = {"match_id": match.id, "number": match.number}, 0
    for start in range(0, len(log), lines):
        some = log[start : start + lines]
        at, body = begin + round(some[-1].at * 1000), "".join(f"{line.text}\n" for line in some).encode()
        end = offset + len(body)
        sent = {"instance": instance, "begin": offset, "end": end} if instance else {}
        yield Batch(id=f"{instance}/{start}", arrived_at=at, body=body, **of_match, **sent)
        offset = end


async def play(store: Store, plan: MatchPlan, event: str, *, lines: int = 60, share: float = 1.0) -> Played:
    """Create the plan's match and play its log, or the first `share` of it, `lines` at a time."""
    log, truth = simulate(plan)
    teams, at = {"home": plan.home.name, "away": plan.away.name}, plan.begin
    match = await create_match(store, at, **teams, event=event, best_of=plan.best_of, scheduled_at=at)
    for batch in batches(match, log[: round(len(log) * share)], plan.begin, lines):
        await apply_batch(store, batch, batch.arrived_at, IngestConfig())
    async with store.transaction() as tx:
        return Played(await matches.lock(tx, match.id), plan, truth)


def side_of(played: RoundTruth, team: Team) -> str:
    """The side that a team played in a round."""
    return played.side if played.winner == team else {"CT": "T", "T": "CT"}[played.side]


def kills_of(a_map: MapTruth, accounts: set[int]) -> int:
    """Kills of opponents by these players on a map."""
    return sum(
        kill.killer in accounts and kill.side != kill.victim_side
        for played in a_map.rounds
        for kill in played.kills
    )
