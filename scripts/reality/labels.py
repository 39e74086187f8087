"""Who won the rounds and maps of the snapshots, by how the score goes on."""

from collections.abc import Iterable, Mapping

from scripts.reality.snapshots import Snapshot

RoundKey = tuple[int, int]  #: index of the map, index of the round


def round_winners(snapshots: Iterable[Snapshot]) -> dict[RoundKey, bool]:
    """Whether CT won each round: by the score of the next round, for a map's last round by its last row."""
    winners: dict[RoundKey, bool] = {}
    before: RoundKey | None = None
    for snapshot in snapshots:
        if before is not None and snapshot.opens_round and snapshot.previous is not None:
            winners[before] = snapshot.previous
        winners[snapshot.key] = snapshot.label
        before = snapshot.key
    return winners


def map_results(snapshots: Iterable[Snapshot], winners: Mapping[RoundKey, bool]) -> dict[int, float]:
    """By map: 1 when the side that began as CT won it, 0 when the other did, half when it stops level."""
    results: dict[int, float] = {}
    for snapshot in snapshots:
        won = winners[snapshot.key]
        lead = (snapshot.ct_score - snapshot.t_score + (1 if won else -1)) * (
            1 if snapshot.starter_is_ct else -1
        )
        results[snapshot.map_index] = 0.5 if lead == 0 else float(lead > 0)
    return results
