"""Plans what happens in one round: who kills whom and when, the bomb, who wins and why.

A round is planned kill by kill. The side with more players left is likelier to get the next kill, so that
the first kill decides about seven rounds in ten, as it does in real matches. `edge` is CT's advantage in
logits; `edge_for` returns the edge for a wanted chance to win the round.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from app.sandbox.simulator.truth import Reason, Side, other_side

PlayerRef = tuple[Side, int]
EventKind = Literal[
    "kill", "team kill", "fall", "blast", "begin plant", "plant", "begin defuse", "defuse", "explode"
]

ROUND_SECONDS = 115.0
BOMB_SECONDS = 40.0
_PLANT_SECONDS = 3.2
_KIT_SECONDS = {True: 5.0, False: 10.0}
#: Logits that each player more is worth for the next kill, and what holding a planted bomb is worth.
_NUMBERS = 0.29
_AFTER_PLANT = 0.25
_MISHAP_CHANCE = 0.004
#: From a wanted round chance (logit) to the edge in each duel; measured by `tests/unit/sandbox/simulator`.
_SLOPE = 2.12
_OFFSET = 0.19


@dataclass(frozen=True)
class PlannedEvent:
    """`at` is in seconds after the round went live; `actor` does it to `target`."""

    at: float
    kind: EventKind
    actor: PlayerRef | None = None
    target: PlayerRef | None = None


@dataclass
class RoundPlan:
    events: list[PlannedEvent] = field(default_factory=list)
    winner: Side = "CT"
    reason: Reason = "time"
    site: str = ""
    ends_at: float = 0.0
    #: From when until when the server writes nothing, in seconds after the round went live.
    silence: tuple[float, float] = (0.0, 0.0)


def edge_for(chance: float) -> float:
    """The edge with which CT wins a round of even numbers with this chance."""
    return math.log(chance / (1 - chance)) / _SLOPE + _OFFSET


class RoundPlanner:
    """Plans one round.

    `weights` are how likely each player is to be the killer, `defuse_kits` which CTs carry one; without
    `bomb` (knife round) nothing is planted.
    """

    def __init__(
        self,
        rng: Random,
        edge: float,
        weights: Mapping[Side, Sequence[float]],
        defuse_kits: Sequence[bool],
        *,
        bomb: bool = True,
    ) -> None:
        self.rng, self.edge, self.weights, self.defuse_kits = rng, edge, weights, defuse_kits
        self.alive: dict[Side, list[int]] = {"CT": list(range(5)), "T": list(range(5))}
        self.now = 0.0
        self.plan = RoundPlan()
        self.planted_at: float | None = None
        self.plant_due = rng.triangular(20, 112, 75) if bomb else math.inf

    def play(self) -> RoundPlan:
        self.now = 6 + self.rng.gammavariate(2.2, 7)
        while not self._over():
            pause = self.rng.expovariate(1 / (9.0 if self.planted_at is None else 6.5))
            if self._bomb_first(pause):
                continue
            self.now += pause
            if self.now < self._deadline():
                self._next_death()
        return self.plan

    def _deadline(self) -> float:
        return ROUND_SECONDS if self.planted_at is None else self.planted_at + BOMB_SECONDS

    def _over(self) -> bool:
        if self.planted_at is None:
            if not self.alive["T"]:
                return self._end("CT", "kills")
            if not self.alive["CT"]:
                return self._end("T", "kills")
            return self.now >= ROUND_SECONDS and self._end("CT", "time", ROUND_SECONDS)
        if not self.alive["CT"]:
            return self._end("T", "kills")
        if not self.alive["T"]:
            return self._defuse_or_late()
        return self.now >= self._deadline() and self._explode()

    def _end(self, winner: Side, reason: Reason, at: float | None = None) -> bool:
        self.plan.winner, self.plan.reason = winner, reason
        self.plan.ends_at = self.now if at is None else at
        return True

    def _bomb_first(self, pause: float) -> bool:
        """Plant before the next kill, when it is due; carriers under pressure delay it."""
        if self.planted_at is not None or self.now + pause < self.plant_due:
            return False
        at = max(self.now, self.plant_due)
        behind = len(self.alive["CT"]) - len(self.alive["T"])
        if at > ROUND_SECONDS - _PLANT_SECONDS or self.rng.random() < 0.30 + 0.15 * max(behind, 0):
            self.plant_due = at + self.rng.uniform(6, 20)
            if self.plant_due > ROUND_SECONDS - _PLANT_SECONDS:
                self.plant_due = math.inf
            return False
        carrier: PlayerRef = ("T", self.rng.choice(self.alive["T"]))
        self.plan.site = self.rng.choice("AB")
        self.plan.events.append(PlannedEvent(max(at - _PLANT_SECONDS, self.now), "begin plant", carrier))
        self.now = self.planted_at = at
        self.plan.events.append(PlannedEvent(at, "plant", carrier))
        return True

    def _next_death(self) -> None:
        if self.rng.random() < _MISHAP_CHANCE:
            self._mishap("CT" if self.rng.random() < 0.5 else "T")
            return
        side: Side = "CT" if self.rng.random() < self._next_kill_by_ct() else "T"
        killers, loser = self.alive[side], other_side(side)
        killer = self.rng.choices(killers, [self.weights[side][ref] for ref in killers])[0]
        self._record_death("kill", (side, killer), (loser, self.rng.choice(self.alive[loser])))

    def _mishap(self, side: Side) -> None:
        """A fall, or a team-mate's bullet."""
        team = self.alive[side]
        if len(team) < 2 or self.rng.random() < 0.5:
            self._record_death("fall", None, (side, self.rng.choice(team)))
            return
        killer, victim = self.rng.sample(team, 2)
        self._record_death("team kill", (side, killer), (side, victim))

    def _next_kill_by_ct(self) -> float:
        ahead = len(self.alive["CT"]) - len(self.alive["T"])
        logit = self.edge + _NUMBERS * ahead - (_AFTER_PLANT if self.planted_at is not None else 0)
        return 1 / (1 + math.exp(-logit))

    def _record_death(self, kind: EventKind, killer: PlayerRef | None, victim: PlayerRef) -> None:
        self.alive[victim[0]].remove(victim[1])
        self.plan.events.append(PlannedEvent(self.now, kind, killer, victim))

    def _defuse_or_late(self) -> bool:
        ref = next((ref for ref in self.alive["CT"] if self.defuse_kits[ref]), self.alive["CT"][0])
        start = self.now + self.rng.uniform(1.5, 9)
        done = start + _KIT_SECONDS[self.defuse_kits[ref]]
        if done > self._deadline():
            return self._explode()
        self.plan.events.append(PlannedEvent(start, "begin defuse", ("CT", ref)))
        self.plan.events.append(PlannedEvent(done, "defuse", ("CT", ref)))
        return self._end("CT", "defuse", done)

    def _explode(self) -> bool:
        at = self._deadline()
        self.plan.events.append(PlannedEvent(at, "explode"))
        for ref in [ref for ref in self.alive["CT"] if self.rng.random() < 0.12]:
            self.now = at
            self._record_death("blast", None, ("CT", ref))
        return self._end("T", "bomb", at)
