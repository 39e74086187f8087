"""Plans what happens in one round: who hits and kills whom and when, the bomb, who wins and why.

A round is played in steps of about a second. In each somebody may be killed or hit, a plant or a defuse
begun; how likely that is depends on the time, on who is alive with which equipment and health, and on the
bomb (`round_numbers.toml`). `edge` is CT's advantage in the logit of a kill beside all that; `edge_for`
returns the edge for a wanted chance to win a round of equal equipment.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random
from typing import Literal

from app.sandbox.simulator.truth import Reason, Side, other_side

PlayerRef = tuple[Side, int]
EventKind = Literal[
    "kill",
    "team kill",
    "fall",
    "blast",
    "hit",
    "begin plant",
    "plant",
    "begin defuse",
    "defuse",
    "explode",
]
ROUND_SECONDS = 115.0
BOMB_SECONDS = 40.0
PLANT_SECONDS = 3.2
_DEFUSE_SECONDS = {True: 5.0, False: 10.0}
_STEP = 1.0
#: The teams do not meet before; seconds after a kill in which it is answered quickly.
_FIRST_CONTACT, _TRADE_SECONDS = 6.0, 4.0
_FIRST_PLANT = 15.0
#: From when on kills come faster and faster; from when on T may give up; what is left of the rate of kills
#: when a side hides.
_HURRY_AT, _LATE, _HIDING = 40.0, 90.0, 0.25
#: Seconds that CTs need to come back to a planted bomb.
_RETAKE_SECONDS = 12.0
_MISHAP_CHANCE = 0.004
#: While a CT defuses: logits for T, and how much faster kills come. How often a defuse is only feigned.
_DEFUSING_EDGE, _DEFUSING_HASTE, _FEIGNED = 0.5, 1.5, 0.4
#: T, two or more behind in the last half minute, gives up the round and keeps its weapons.
_SAVING_T = 0.35
#: From a wanted round chance (logit) to the edge in each duel; measured by `tests/unit/sandbox/simulator`.
_SLOPE = 2.02
_OFFSET = -0.05


@dataclass(frozen=True)
class RoundNumbers:
    """What `RoundPlanner` plays by. Rates are per second, edges in logits of one kill, for CT.

    Kills: `kill_rate` between full teams, reached `kill_ramp` seconds into the round; fewer players meet less
    often (`numbers` is the exponent), a kill is answered quickly (`trade` multiplies), and the later it is
    the more they hurry (`late` adds). Who gets the kill depends on `bias`, on `kappa` times the ratio of the
    sides' strengths (each player's to the power of `power`, with health to the power of `health`), and on
    `planted_edge` for T after a plant. `spread` is that of teams' skill in the data.

    Bomb: `plant_rate` when both sides are full, more the fewer CTs live (`plant_ct`), less the fewer Ts
    (`plant_t`), more the later it is
    (`urgency` is the number of seconds in which it grows e-fold). CTs give up a planted bomb with the logit
    `save`, and `save_behind` for each player that they are behind; otherwise kills come at `retake_rate`, and
    a defuse begins with T alive at `defuse_rate`. `wound`: how often a kill's victim has hit the killer;
    `graze_rate`: hits without a kill.
    """

    bias: float
    spread: float
    kappa: float
    power: float
    health: float
    kill_rate: float
    kill_ramp: float
    numbers: float
    trade: float
    late: float
    plant_rate: float
    plant_ct: float
    plant_t: float
    urgency: float
    planted_edge: float
    save: float
    save_behind: float
    retake_rate: float
    defuse_rate: float
    wound: float
    graze_rate: float


@cache
def round_numbers() -> RoundNumbers:
    return RoundNumbers(**tomllib.loads(files(__package__).joinpath("round_numbers.toml").read_text("utf-8")))


@cache
def _powers() -> tuple[RoundNumbers, tuple[float, ...], tuple[float, ...]]:
    """The numbers; how much less often fewer players meet, by their number in pairs; and what health does to
    strength, by health. Raised to a power once, not a thousand times a round."""
    numbers = round_numbers()
    meeting = tuple([(pairs / 25) ** numbers.numbers for pairs in range(26)])
    return numbers, meeting, tuple([(health / 100) ** numbers.health for health in range(101)])


@dataclass(frozen=True)
class PlannedEvent:
    """`at` is in seconds after the round went live; `actor` does it to `target`. `amount`: a hit's damage."""

    at: float
    kind: EventKind
    actor: PlayerRef | None = None
    target: PlayerRef | None = None
    amount: int = 0


@dataclass
class RoundPlan:
    events: list[PlannedEvent] = field(default_factory=list)
    winner: Side = "CT"
    reason: Reason = "time"
    site: str = ""
    ends_at: float = 0.0
    #: From when until when the server writes nothing, in seconds after the round went live.
    silence: tuple[float, float] = (0.0, 0.0)


@dataclass
class Fighter:
    """A player in a round: `weight` is how good player, weapon and armour are together, `damage` what a hit
    of the weapon does."""

    weight: float = 1.0
    damage: int = 30
    kit: bool = False
    health: int = 100


def edge_for(chance: float) -> float:
    """The edge with which CT wins a round between equal equipment with this chance."""
    return math.log(chance / (1 - chance)) / _SLOPE + _OFFSET


class RoundPlanner:
    """Plans one round between five `fighters` a side; without `bomb` (knife round) nothing is planted."""

    def __init__(
        self,
        rng: Random,
        edge: float,
        fighters: Mapping[Side, Sequence[Fighter]],
        *,
        bomb: bool = True,
    ) -> None:
        self.rng, self.edge, self.fighters, self.bomb = rng, edge, fighters, bomb
        self.numbers, self._meeting, self._fitness = _powers()
        power = self.numbers.power
        self._strength = {side: [one.weight**power for one in each] for side, each in fighters.items()}
        self.alive: dict[Side, list[int]] = {"CT": list(range(5)), "T": list(range(5))}
        self.now = _FIRST_CONTACT
        self.plan = RoundPlan()
        self.planted_at: float | None = None
        self.killed_at = -math.inf
        #: Who plants or defuses, and when that is done.
        self.busy: PlayerRef | None = None
        self.busy_until = 0.0
        self.hiding: Side | None = None
        self.even = 0.0  #: CT's logit of the next kill without the bomb
        self._weigh()

    def play(self) -> RoundPlan:
        while not self._over():
            self.now += _STEP * (0.5 + self.rng.random())
            if self.now >= self._deadline():
                continue
            if self.busy and self.now >= self.busy_until:
                self._complete()
                continue
            chance = self.rng.random() / _STEP - self._kill_rate()
            if chance < 0:
                self._next_death()
            elif chance < self.numbers.graze_rate:
                self._graze()
            elif not self.busy and chance < self.numbers.graze_rate + self._begin_rate():
                self._begin()
        return self.plan

    def _deadline(self) -> float:
        return ROUND_SECONDS if self.planted_at is None else self.planted_at + BOMB_SECONDS

    def _over(self) -> bool:
        if not self.alive["CT"]:
            return self._end("T", "kills")
        if self.planted_at is None:
            if not self.alive["T"]:
                return self._end("CT", "kills")
            return self.now >= ROUND_SECONDS and self._end("CT", "time", ROUND_SECONDS)
        if self.plan.reason == "defuse":
            return True
        if not self.alive["T"]:
            return self._defuse_or_late()
        return self.now >= self._deadline() and self._explode()

    def _end(self, winner: Side, reason: Reason, at: float | None = None) -> bool:
        self.plan.winner, self.plan.reason = winner, reason
        self.plan.ends_at = self.now if at is None else at
        return True

    def _weigh(self) -> None:
        """How the sides' strengths compare, from who is alive and how well."""
        strengths = {}
        for side, players in self.alive.items():
            fighters, each = self.fighters[side], self._strength[side]
            strengths[side] = sum([each[one] * self._fitness[fighters[one].health] for one in players])
        if all(strengths.values()):
            ratio = math.log(strengths["CT"] / strengths["T"])
            self.even = self.edge + self.numbers.bias + self.numbers.kappa * ratio

    def _kill_rate(self) -> float:
        numbers, ct, t = self.numbers, len(self.alive["CT"]), len(self.alive["T"])
        if self.planted_at is None:
            rate = numbers.kill_rate * min((self.now - _FIRST_CONTACT) / numbers.kill_ramp, 1.0)
            rate *= self._meeting[ct * t]
            rate *= 1 + numbers.late * max(self.now - _HURRY_AT, 0) / (ROUND_SECONDS - _HURRY_AT)
        else:
            rate = numbers.retake_rate * min((self.now - self.planted_at + 2) / _RETAKE_SECONDS, 1.0)
        if self.now - self.killed_at < _TRADE_SECONDS:
            rate *= numbers.trade
        if self.busy and self.planted_at is not None:
            rate *= _DEFUSING_HASTE
        return rate * _HIDING if self.hiding else rate

    def _begin_rate(self) -> float:
        """How often a plant or a defuse begins now."""
        numbers, ct = self.numbers, len(self.alive["CT"])
        if self.planted_at is not None:
            return 0.0 if self.hiding else numbers.defuse_rate * ct / len(self.alive["T"])
        too_late = self.now > ROUND_SECONDS - PLANT_SECONDS
        if not self.bomb or self.hiding or too_late or self.now < _FIRST_PLANT:
            return 0.0
        few = numbers.plant_ct * (5 - ct) - numbers.plant_t * (5 - len(self.alive["T"]))
        return numbers.plant_rate * math.exp(few + max(self.now - 40, -20) / numbers.urgency)

    def _begin(self) -> None:
        if self.planted_at is None:
            self._start("begin plant", ("T", self.rng.choice(self.alive["T"])), PLANT_SECONDS)
            return
        defuser = self._defuser()
        seconds = _DEFUSE_SECONDS[self.fighters["CT"][defuser[1]].kit]
        if self.now + seconds < self._deadline():
            self._start("begin defuse", defuser, seconds)
            if self.rng.random() < _FEIGNED:
                self.busy = None

    def _start(self, kind: EventKind, who: PlayerRef, seconds: float) -> None:
        self.plan.events.append(PlannedEvent(self.now, kind, who))
        self.busy, self.busy_until = who, round(self.now + seconds, 3)

    def _complete(self) -> None:
        """The plant or defuse that was begun is done."""
        who, self.now, self.busy = self.busy, self.busy_until, None
        if self.planted_at is not None:
            self.plan.events.append(PlannedEvent(self.now, "defuse", who))
            self._end("CT", "defuse")
            return
        self.plan.site = self.rng.choice("AB")
        self.planted_at = self.now
        self.plan.events.append(PlannedEvent(self.now, "plant", who))
        self._choose_to_hide()

    def _choose_to_hide(self) -> None:
        """A side that has little left to win may keep out of sight."""
        behind = len(self.alive["T"]) - len(self.alive["CT"])
        if self.planted_at is None:
            late = self.now > _LATE and behind <= -2
            self.hiding = "T" if self.hiding or (late and self.rng.random() < _SAVING_T) else None
            return
        logit = self.numbers.save + self.numbers.save_behind * behind
        if self.hiding != "CT" or behind <= 0:
            self.hiding = "CT" if self.rng.random() < 1 / (1 + math.exp(-logit)) else None

    def _next_kill_by_ct(self) -> float:
        logit = self.even
        if self.planted_at is not None:
            logit -= self.numbers.planted_edge + (_DEFUSING_EDGE if self.busy else 0)
        return 1 / (1 + math.exp(-logit))

    def _next_death(self) -> None:
        if self.rng.random() < _MISHAP_CHANCE:
            self._mishap("CT" if self.rng.random() < 0.5 else "T")
            return
        side: Side = "CT" if self.rng.random() < self._next_kill_by_ct() else "T"
        killers, loser = self.alive[side], other_side(side)
        weights = [self.fighters[side][index].weight * self.fighters[side][index].health for index in killers]
        killer = self.rng.choices(killers, weights)[0]
        victim = self.rng.choice(self.alive[loser])
        if self.rng.random() < self.numbers.wound:
            self._hit((loser, victim), (side, killer))
        self._record_death("kill", (side, killer), (loser, victim))

    def _graze(self) -> None:
        """Somebody is hit and lives: a grenade, a shot through smoke."""
        side: Side = "CT" if self.rng.random() < 0.5 else "T"
        other = other_side(side)
        self._hit((side, self.rng.choice(self.alive[side])), (other, self.rng.choice(self.alive[other])))

    def _hit(self, shooter: PlayerRef, target: PlayerRef) -> None:
        weapon, hurt = self.fighters[shooter[0]][shooter[1]].damage, self.fighters[target[0]][target[1]]
        amount = min(round(weapon * self.rng.uniform(0.4, 1.8)), hurt.health - 1)
        if amount > 0:
            hurt.health -= amount
            self.plan.events.append(PlannedEvent(self.now, "hit", shooter, target, amount))
            self._weigh()

    def _mishap(self, side: Side) -> None:
        """A fall, or a team-mate's bullet."""
        team = self.alive[side]
        if len(team) < 2 or self.rng.random() < 0.5:
            self._record_death("fall", None, (side, self.rng.choice(team)))
            return
        killer, victim = self.rng.sample(team, 2)
        self._record_death("team kill", (side, killer), (side, victim))

    def _record_death(self, kind: EventKind, killer: PlayerRef | None, victim: PlayerRef) -> None:
        self.alive[victim[0]].remove(victim[1])
        self.plan.events.append(PlannedEvent(self.now, kind, killer, victim))
        self.killed_at = self.now
        if self.busy == victim:
            self.busy = None
        if self.alive["CT"] and self.alive["T"]:
            self._weigh()
            self._choose_to_hide()

    def _defuser(self) -> PlayerRef:
        living = self.alive["CT"]
        return "CT", next((ref for ref in living if self.fighters["CT"][ref].kit), living[0])

    def _defuse_or_late(self) -> bool:
        """No T is left to stop the defuse; only the fuse can be too short."""
        ref = self.busy or self._defuser()
        if not self.busy:
            start = self.now + self.rng.uniform(0.5, 6)
            self.busy_until = start + _DEFUSE_SECONDS[self.fighters["CT"][ref[1]].kit]
            if self.busy_until >= self._deadline():
                return self._explode()
            self.plan.events.append(PlannedEvent(start, "begin defuse", ref))
        self.plan.events.append(PlannedEvent(self.busy_until, "defuse", ref))
        return self._end("CT", "defuse", self.busy_until)

    def _explode(self) -> bool:
        at = self._deadline()
        self.plan.events.append(PlannedEvent(at, "explode"))
        for ref in [ref for ref in self.alive["CT"] if self.rng.random() < 0.12]:
            self.alive["CT"].remove(ref)
            self.plan.events.append(PlannedEvent(at, "blast", None, ("CT", ref)))
        return self._end("T", "bomb", at)
