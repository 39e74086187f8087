"""Writes a planned round as log lines: shots, kills, money, the bomb, the result; and a map before its
first round that counts: loading, warm-up, sometimes a knife round.
"""

from collections.abc import Iterator

from app.sandbox.simulator import log_lines
from app.sandbox.simulator.economy import (
    KNIFE,
    OBJECTIVE,
    OVERTIME_START,
    WEAPONS,
    SimulatedPlayer,
    Weapon,
    round_bonus,
)
from app.sandbox.simulator.log_lines import Lines, Position, somewhere
from app.sandbox.simulator.map_state import FREEZE, OVERTIME_ROUNDS, SIDES, MapState
from app.sandbox.simulator.round_plan import (
    BOMB_SECONDS,
    Fighter,
    PlannedEvent,
    PlayerRef,
    RoundPlan,
    RoundPlanner,
)
from app.sandbox.simulator.truth import KillTruth, RoundTruth, Side, other_side

_GROUPS = (
    "chest",
    "chest",
    "chest",
    "stomach",
    "stomach",
    "right arm",
    "left arm",
    "right leg",
    "left leg",
)
_HEADSHOTS = 0.47
_CHAT_SECONDS = 3.0  #: seconds after which a line comes although nothing happens
_FIRST_THROW, _LAST_THROW = 4.0, 90.0  #: between which seconds of a round grenades are thrown
_CVARS = (
    ("mp_overtime_enable", "true"),
    ("mp_overtime_maxrounds", str(OVERTIME_ROUNDS)),
    ("mp_overtime_startmoney", str(OVERTIME_START)),
    ("mp_freezetime", str(FREEZE)),
    ("mp_roundtime", "1.920000"),
    ("mp_roundtime_defuse", "1.920000"),
    ("mp_c4timer", str(int(BOMB_SECONDS))),
    ("mp_friendlyfire", "true"),
)


class RoundWriter:
    """Writes one round. With `knives` it is the knife round, which is not recorded in the truth."""

    def __init__(self, state: MapState, plan: RoundPlan, *, knives: bool = False) -> None:
        self.state, self.plan, self.knives = state, plan, knives
        self.rng, self.log = state.rng, state.log
        self.alive = set(state.refs())
        self.kills: list[KillTruth] = []
        self.mishaps: list[int] = []
        self.carrier: PlayerRef | None = None if knives else ("T", state.rng.randrange(5))

    def write(self) -> None:
        """All lines from Round_Start to the last kill or bomb event."""
        live_at = self.log.now
        self.log.write(log_lines.world_event("Round_Start"))
        if self.carrier:
            self.log.write(f'{self.state.tag(self.carrier)} triggered "Got_The_Bomb"')
        self._leave_buyzone()
        throws = self._planned_throws()
        for event in self.plan.events:
            while throws and throws[0][0] < event.at:
                self._throw(live_at, *throws.pop(0))
            self._chat_until(live_at, event.at)
            self._write_event(event)
        self._chat_until(live_at, self.plan.ends_at)

    def _chat_until(self, live_at: float, at: float) -> None:
        """Wait for the next event; meanwhile players chat, for the log of ten players is not silent for
        long."""
        silent_from, silent_until = self.plan.silence
        while self.log.now + _CHAT_SECONDS < live_at + at:
            self.log.wait(_CHAT_SECONDS)
            if self.alive and not silent_from < self.log.now - live_at < silent_until:
                self.log.write(f'{self.state.tag(min(self.alive))} say_team "wait"')
        self.log.until(live_at + at)

    def _leave_buyzone(self) -> None:
        """Everybody leaves the buy zone with their equipment."""
        for ref in self.state.refs():
            carried = self.state.player(ref).carried(ref[0])
            if ref == self.carrier:
                carried += ["C4"]
            self.log.write(log_lines.left_buyzone(self.state.tag(ref), carried))

    def _planned_throws(self) -> list[tuple[float, PlayerRef]]:
        """Who throws a grenade when, in order, in seconds after the round went live."""
        throws = [
            (self.rng.triangular(_FIRST_THROW, _LAST_THROW, _FIRST_THROW), ref)
            for ref in self.state.refs()
            for _ in self.state.player(ref).grenades
        ]
        silent_from, silent_until = self.plan.silence
        return sorted(throw for throw in throws if not silent_from < throw[0] < silent_until)

    def _throw(self, live_at: float, at: float, ref: PlayerRef) -> None:
        grenades = self.state.player(ref).grenades
        if ref in self.alive and grenades:
            self._chat_until(live_at, at)
            place = somewhere(self.rng, other_side(ref[0]))
            self.log.write(log_lines.threw(self.state.tag(ref), grenades.pop(), place))

    def _write_event(self, event: PlannedEvent) -> None:
        if event.actor and event.target:
            if event.kind == "hit":
                self._shoot(event.actor, event.target, self._arm(event.actor), event.amount)
            else:
                self._kill(event.actor, event.target)
        elif event.target:
            self._mishap(event.kind, event.target)
        elif event.actor:
            self._bomb(event.kind, event.actor)

    def _bomb(self, kind: str, actor: PlayerRef) -> None:
        tag, site = self.state.tag(actor), self.plan.site
        if kind == "begin plant":
            self._pass_bomb(actor)
            self.log.write(f'{tag} triggered "Bomb_Begin_Plant" at bombsite {site}')
        elif kind == "plant":
            self.carrier = None
            self.log.write(f'{tag} triggered "Planted_The_Bomb" at bombsite {site}')
            self.state.pay(actor, OBJECTIVE)
        elif kind == "begin defuse":
            with_kit = "With" if self.state.player(actor).defuser else "Without"
            self.log.write(f'{tag} triggered "Begin_Bomb_Defuse_{with_kit}_Kit"')
        elif kind == "defuse":
            self.log.write(f'{tag} triggered "Defused_The_Bomb"')
            self.state.pay(actor, OBJECTIVE)

    def _pass_bomb(self, actor: PlayerRef) -> None:
        if self.carrier != actor:
            if self.carrier:
                self.log.write(f'{self.state.tag(self.carrier)} triggered "Dropped_The_Bomb"')
            self.log.write(f'{self.state.tag(actor)} triggered "Got_The_Bomb"')
            self.carrier = actor

    def _mishap(self, kind: str, victim: PlayerRef) -> None:
        place = log_lines.position(somewhere(self.rng, victim[0]))
        self._die(victim)
        self.mishaps.append(self.state.player(victim).profile.account)
        if kind == "blast":
            self.log.write(f"{self.state.tag(victim)} {place} was killed by the bomb.")
        else:
            self.log.write(f'{self.state.tag(victim)} {place} committed suicide with "world"')

    def _die(self, victim: PlayerRef) -> None:
        player = self.state.player(victim)
        player.deaths += 1
        player.health = 0
        self.alive.discard(victim)
        if self.carrier == victim:
            self.carrier = None
            self.log.write(f'{self.state.tag(victim)} triggered "Dropped_The_Bomb"')

    def _kill(self, killer: PlayerRef, victim: PlayerRef) -> None:
        state, player, target = self.state, self.state.player(killer), self.state.player(victim)
        weapon = WEAPONS[KNIFE[killer[0]]] if self.knives else player.weapon
        headshot = not self.knives and weapon.name != "awp" and self.rng.random() < _HEADSHOTS
        flags = ["headshot"] * headshot
        flags += ["penetrated"] * (not self.knives and self.rng.random() < 0.04)
        helper = self._wound(killer, victim, target)
        here, there = self._shoot(killer, victim, weapon, target.health, "head" if headshot else "")
        self._die(victim)
        self.log.write(log_lines.killed(state.tag(killer), here, state.tag(victim), there, weapon, flags))
        if helper:
            self.log.write(f"{state.tag(helper)} assisted killing {state.tag(victim)}")
            state.player(helper).assists += 1
        self._count(killer, victim, player, headshot=headshot)
        account = state.player(helper).profile.account if helper else None
        self.kills.append(
            KillTruth(
                killer=player.profile.account,
                side=killer[0],
                victim=target.profile.account,
                victim_side=victim[0],
                weapon=weapon.name,
                headshot=headshot,
                penetrated="penetrated" in flags,
                assister=account,
            )
        )
        if not self.knives:
            state.pay(killer, weapon.reward if killer[0] != victim[0] else -300)

    def _count(
        self, killer: PlayerRef, victim: PlayerRef, player: SimulatedPlayer, *, headshot: bool
    ) -> None:
        if killer[0] == victim[0]:
            return
        player.kills += 1
        player.headshots += headshot
        player.first_kills += not self.kills

    def _wound(self, killer: PlayerRef, victim: PlayerRef, target: SimulatedPlayer) -> PlayerRef | None:
        """Shots before the fatal one; a team-mate of the killer who did much damage gets an assist."""
        if killer[0] == victim[0] or self.rng.random() < 0.45:
            return None
        friends = [ref for ref in self.alive if ref[0] == killer[0] and ref != killer]
        helper = self.rng.choice(sorted(friends)) if friends and self.rng.random() < 0.5 else None
        shooter, before = helper or killer, target.health
        dealt = min(round(self._arm(shooter).damage * self.rng.uniform(0.7, 1.5)), target.health - 1)
        self._shoot(shooter, victim, self._arm(shooter), dealt)
        return helper if before - target.health > 40 else None

    def _arm(self, ref: PlayerRef) -> Weapon:
        return WEAPONS[KNIFE[ref[0]]] if self.knives else self.state.player(ref).weapon

    def _shoot(
        self, shooter: PlayerRef, target: PlayerRef, weapon: Weapon, dealt: int, group: str = ""
    ) -> tuple[Position, Position]:
        """One hit for so many points of health, and where both stood."""
        here, there = somewhere(self.rng, shooter[0]), somewhere(self.rng, target[0])
        player, hurt = self.state.player(shooter), self.state.player(target)
        if dealt <= 0:
            return here, there
        group = group or ("generic" if weapon.kind == "knife" else self.rng.choice(_GROUPS))
        dent = min(hurt.plate, dealt // 8)
        player.damage += dealt
        hurt.health -= dealt
        hurt.plate -= dent
        hit = (dealt, dent, hurt.health, hurt.plate, group)
        tags = self.state.tag(shooter), self.state.tag(target)
        self.log.write(log_lines.attacked(tags[0], here, tags[1], there, weapon.log_name, hit))
        return here, there

    def finish(self) -> None:
        """The lines of the result, the round's truth, and the players' income."""
        state, plan = self.state, self.plan
        winner = state.team_on(plan.winner)
        if winner is state.home:
            state.home_score += 1
        else:
            state.away_score += 1
        ct, t = state.score("CT"), state.score("T")
        self.log.write(log_lines.won(plan.winner, plan.reason, ct, t))
        state.write_scores()
        state.write_status(state.played)
        self.log.write(log_lines.world_event("Round_End"))
        if self.knives:
            return
        state.truth.rounds.append(
            RoundTruth(
                number=state.played,
                winner=winner.team,
                side=plan.winner,
                reason=plan.reason,
                home_score=state.home_score,
                away_score=state.away_score,
                bomb_site=plan.site,
                kills=self.kills,
                mishaps=self.mishaps,
            )
        )
        self._reward(plan.winner)

    def _reward(self, winning: Side) -> None:
        best = max(range(5), key=lambda index: self.state.player((winning, index)).kills)
        self.state.player((winning, best)).mvps += 1
        for side in (winning, other_side(winning)):
            for ref, amount in self._incomes(side, winning):
                self.state.pay(ref, amount)
        for side in SIDES:
            team = self.state.team_on(side)
            team.streak = team.streak + 1 if side == winning else 0

    def _incomes(self, side: Side, winning: Side) -> Iterator[tuple[PlayerRef, int]]:
        loss_bonus, plan = self.state.team_on(side).loss_bonus, self.plan
        amount = loss_bonus.income_of_win(plan.reason) if side == winning else loss_bonus.income_of_loss()
        dead = sum(kill.victim_side != side for kill in self.kills)
        amount += round_bonus(side, bool(plan.site) and side != winning, dead)
        for index in range(5):
            # A T who is alive when time runs out gets nothing.
            if not (side == "T" and plan.reason == "time" and (side, index) in self.alive):
                yield (side, index), amount


def load(state: MapState) -> None:
    log = state.log
    log.write(f'Loading map "{state.map_profile.name}"')
    settings = (("mp_maxrounds", str(state.rounds)), *_CVARS)
    log.write(*(log_lines.cvar(name, value) for name, value in settings))
    log.wait(2)
    log.write(f'Started map "{state.map_profile.name}" (CRC "-1")', log_lines.world_event("Warmup_Start"))


def warm_up(state: MapState, *, brief: bool) -> Lines:
    """Players connect and shoot each other; none of it counts."""
    rng, log = state.rng, state.log
    for ref in state.refs():
        log.wait(rng.uniform(0.2, 1.0))
        player = state.player(ref)
        nobody = log_lines.player(player.profile.name, player.slot, player.profile.account, None)
        log.write(*log_lines.connected(nobody))
    for _ in range(3 if brief else rng.randint(8, 20)):
        log.wait(rng.uniform(0.5, 5))
        side = rng.choice(SIDES)
        killer, victim = (side, rng.randrange(5)), (other_side(side), rng.randrange(5))
        tags = state.tag(killer), state.tag(victim)
        weapon = state.player(killer).weapon
        log.write(
            log_lines.killed(tags[0], somewhere(rng, side), tags[1], somewhere(rng, victim[0]), weapon, ())
        )
        yield from log.drain()
    log.wait(2)
    log.write(log_lines.world_event("Warmup_End"))
    yield from log.drain()


def knife_round(state: MapState, *, brief: bool) -> Lines:
    """A round with knives for the choice of side; during a pause after it the winner may swap sides."""
    rng, log = state.rng, state.log
    state.write_freeze()
    state.write_match_start(0)
    log.wait(FREEZE)
    for ref in state.refs():
        state.player(ref).lose_equipment(ref[0])
        state.player(ref).respawn()
    knives: dict[Side, list[Fighter]] = {
        side: [Fighter(damage=WEAPONS["knife"].damage) for _ in range(5)] for side in SIDES
    }
    plan = RoundPlanner(rng, 0.0, knives, bomb=False).play()
    writer = RoundWriter(state, plan, knives=True)
    writer.write()
    writer.finish()
    state.home_score = state.away_score = 0
    for team in state.teams:
        for player in team.players:
            player.deaths = player.kills = player.assists = player.damage = player.first_kills = 0
    yield from log.drain()
    state.write_freeze()
    state.write_match_start(-1)
    log.write(log_lines.pause(True, "mp_pause_match"))
    log.wait(5 if brief else rng.uniform(15, 45))
    if rng.random() < 0.5:
        state.change_sides()
    state.write_freeze()
    state.write_match_start(0)
    log.wait(2)
    log.write(log_lines.world_event("Restart_Round_(4_seconds)"))
    state.write_scores()
    log.wait(3)
    log.write(log_lines.pause(False, "mp_unpause_match"))
    log.wait(1)
    yield from log.drain()
