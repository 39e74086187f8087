"""A round's plot written out as lines: shots, kills, money, the bomb, the result."""

from collections.abc import Iterator

from app.sandbox.simulator import lines
from app.sandbox.simulator.arms import ARMS, KNIFE, Arm
from app.sandbox.simulator.economy import OBJECTIVE, Kit, round_bonus
from app.sandbox.simulator.lines import Spot
from app.sandbox.simulator.log import somewhere
from app.sandbox.simulator.plot import Beat, Plot, Seat
from app.sandbox.simulator.stage import SIDES, Stage
from app.sandbox.simulator.truth import KillTruth, RoundTruth, Side, other_side

_GROUPS = ("chest", "chest", "chest", "stomach", "stomach", "right arm", "left arm", "right leg", "left leg")
_HEADSHOTS = 0.47
_TALK = 3.0  #: seconds after which a line comes although nothing happens


class Scene:
    """One round on stage. With `knives` it is the knife round, which leaves no trace in the record."""

    def __init__(self, stage: Stage, plot: Plot, *, knives: bool = False) -> None:
        self.stage, self.plot, self.knives = stage, plot, knives
        self.rng, self.log = stage.rng, stage.log
        self.alive = set(stage.seats())
        self.kills: list[KillTruth] = []
        self.mishaps: list[int] = []
        self.carrier: Seat | None = None if knives else ("T", stage.rng.randrange(5))

    def write(self) -> None:
        """All lines from Round_Start to the last kill or bomb event."""
        live_at = self.log.now
        self.log.write(lines.world("Round_Start"))
        if self.carrier:
            self.log.write(f'{self.stage.tag(self.carrier)} triggered "Got_The_Bomb"')
        self._leave()
        self._throw(live_at + min([12.0, *(beat.at for beat in self.plot.beats[:1])]))
        for beat in self.plot.beats:
            self._talk_until(live_at, beat.at)
            self._beat(beat)
        self._talk_until(live_at, self.plot.ends_at)

    def _talk_until(self, live_at: float, at: float) -> None:
        """Wait for what happens next; a server is not silent meanwhile while ten people play on it."""
        silent_from, silent_until = self.plot.silence
        while self.log.now + _TALK < live_at + at:
            self.log.wait(_TALK)
            if self.alive and not silent_from < self.log.now - live_at < silent_until:
                self.log.write(f'{self.stage.tag(min(self.alive))} say_team "wait"')
        self.log.until(live_at + at)

    def _leave(self) -> None:
        """Everybody runs off with what they have."""
        for seat in self.stage.seats():
            carried = self.stage.kit(seat).carried(seat[0])
            if seat == self.carrier:
                carried += ["C4"]
            self.log.write(lines.left_buyzone(self.stage.tag(seat), carried))

    def _throw(self, until: float) -> None:
        """Some of the grenades, before anybody dies."""
        for seat in self.stage.seats():
            kit = self.stage.kit(seat)
            if kit.grenades and self.rng.random() < 0.6:
                self.log.until(min(self.log.now + 1, until))
                place = somewhere(self.rng, other_side(seat[0]))
                self.log.write(lines.threw(self.stage.tag(seat), kit.grenades.pop(), place))

    def _beat(self, beat: Beat) -> None:
        if beat.deed in ("kill", "team kill"):
            assert beat.actor and beat.target
            self._kill(beat.actor, beat.target)
        elif beat.target:
            self._mishap(beat.deed, beat.target)
        elif beat.actor:
            self._bomb(beat.deed, beat.actor)

    def _bomb(self, deed: str, actor: Seat) -> None:
        tag, site = self.stage.tag(actor), self.plot.site
        if deed == "begin plant":
            self._hand_over(actor)
            self.log.write(f'{tag} triggered "Bomb_Begin_Plant" at bombsite {site}')
        elif deed == "plant":
            self.carrier = None
            self.log.write(f'{tag} triggered "Planted_The_Bomb" at bombsite {site}')
            self.stage.pay(actor, OBJECTIVE)
        elif deed == "begin defuse":
            with_kit = "With" if self.stage.kit(actor).defuser else "Without"
            self.log.write(f'{tag} triggered "Begin_Bomb_Defuse_{with_kit}_Kit"')
        elif deed == "defuse":
            self.log.write(f'{tag} triggered "Defused_The_Bomb"')
            self.stage.pay(actor, OBJECTIVE)

    def _hand_over(self, actor: Seat) -> None:
        if self.carrier != actor:
            if self.carrier:
                self.log.write(f'{self.stage.tag(self.carrier)} triggered "Dropped_The_Bomb"')
            self.log.write(f'{self.stage.tag(actor)} triggered "Got_The_Bomb"')
            self.carrier = actor

    def _mishap(self, deed: str, victim: Seat) -> None:
        place = lines.spot(somewhere(self.rng, victim[0]))
        self._fall(victim)
        self.mishaps.append(self.stage.kit(victim).gamer.account)
        if deed == "blast":
            self.log.write(f"{self.stage.tag(victim)} {place} was killed by the bomb.")
        else:
            self.log.write(f'{self.stage.tag(victim)} {place} committed suicide with "world"')

    def _fall(self, victim: Seat) -> None:
        kit = self.stage.kit(victim)
        kit.deaths += 1
        kit.health = 0
        self.alive.discard(victim)
        if self.carrier == victim:
            self.carrier = None
            self.log.write(f'{self.stage.tag(victim)} triggered "Dropped_The_Bomb"')

    def _kill(self, killer: Seat, victim: Seat) -> None:
        stage, kit, target = self.stage, self.stage.kit(killer), self.stage.kit(victim)
        arm = ARMS[KNIFE[killer[0]]] if self.knives else kit.arm
        headshot = not self.knives and arm.name != "awp" and self.rng.random() < _HEADSHOTS
        flags = ["headshot"] * headshot
        flags += ["penetrated"] * (not self.knives and self.rng.random() < 0.04)
        helper = self._wound(killer, victim, target)
        here, there = self._shoot(killer, victim, arm, "head" if headshot else "", fatal=True)
        self._fall(victim)
        self.log.write(lines.killed(stage.tag(killer), here, stage.tag(victim), there, arm, flags))
        if helper:
            self.log.write(f"{stage.tag(helper)} assisted killing {stage.tag(victim)}")
            stage.kit(helper).assists += 1
        self._count(killer, victim, kit, headshot=headshot)
        account = stage.kit(helper).gamer.account if helper else None
        self.kills.append(
            KillTruth(
                killer=kit.gamer.account,
                side=killer[0],
                victim=target.gamer.account,
                victim_side=victim[0],
                weapon=arm.name,
                headshot=headshot,
                penetrated="penetrated" in flags,
                assister=account,
            )
        )
        if not self.knives:
            stage.pay(killer, arm.reward if killer[0] != victim[0] else -300)

    def _count(self, killer: Seat, victim: Seat, kit: Kit, *, headshot: bool) -> None:
        if killer[0] == victim[0]:
            return
        kit.kills += 1
        kit.headshots += headshot
        kit.first_kills += not self.kills

    def _wound(self, killer: Seat, victim: Seat, target: Kit) -> Seat | None:
        """Shots before the fatal one; a team-mate of the killer who did much damage gets an assist."""
        if self.rng.random() < 0.3:
            self._shoot(victim, killer, self._arm(victim), "", fatal=False)
        if killer[0] == victim[0] or self.rng.random() < 0.45:
            return None
        friends = [seat for seat in self.alive if seat[0] == killer[0] and seat != killer]
        if friends and self.rng.random() < 0.5:
            helper = self.rng.choice(sorted(friends))
            dealt = target.health
            self._shoot(helper, victim, self._arm(helper), "", fatal=False)
            return helper if dealt - target.health > 40 else None
        self._shoot(killer, victim, self._arm(killer), "", fatal=False)
        return None

    def _arm(self, seat: Seat) -> Arm:
        return ARMS[KNIFE[seat[0]]] if self.knives else self.stage.kit(seat).arm

    def _shoot(self, shooter: Seat, target: Seat, arm: Arm, group: str, *, fatal: bool) -> tuple[Spot, Spot]:
        """One hit, and where both stood; one that is not fatal leaves at least one point of health."""
        here, there = somewhere(self.rng, shooter[0]), somewhere(self.rng, target[0])
        kit, hurt = self.stage.kit(shooter), self.stage.kit(target)
        dealt = round(arm.damage * self.rng.uniform(0.7, 1.5))
        dealt = max(dealt, hurt.health) if fatal else min(dealt, hurt.health - 1)
        if dealt <= 0:
            return here, there
        group = group or ("generic" if arm.kind == "knife" else self.rng.choice(_GROUPS))
        dent = min(hurt.plate, dealt // 8)
        kit.damage += min(dealt, hurt.health)
        hurt.health = max(hurt.health - dealt, 0)
        hurt.plate -= dent
        hit = (dealt, dent, hurt.health, hurt.plate, group)
        tags = self.stage.tag(shooter), self.stage.tag(target)
        self.log.write(lines.attacked(tags[0], here, tags[1], there, arm.spelled, hit))
        return here, there

    def finish(self) -> None:
        """The result's lines, the round's record, and who is paid what."""
        stage, plot = self.stage, self.plot
        winner = stage.on(plot.winner)
        if winner is stage.home:
            stage.home_score += 1
        else:
            stage.away_score += 1
        ct, t = stage.score("CT"), stage.score("T")
        self.log.write(lines.won(plot.winner, plot.reason, ct, t))
        stage.tell_scores()
        stage.tell_status(stage.played)
        self.log.write(lines.world("Round_End"))
        if self.knives:
            return
        stage.truth.rounds.append(
            RoundTruth(
                number=stage.played,
                winner=winner.slot,
                side=plot.winner,
                reason=plot.reason,
                home_score=stage.home_score,
                away_score=stage.away_score,
                bomb_site=plot.site,
                kills=self.kills,
                mishaps=self.mishaps,
            )
        )
        self._reward(plot.winner)

    def _reward(self, winning: Side) -> None:
        best = max(range(5), key=lambda index: self.stage.kit((winning, index)).kills)
        self.stage.kit((winning, best)).mvps += 1
        for side in (winning, other_side(winning)):
            for seat, amount in self._incomes(side, winning):
                self.stage.pay(seat, amount)
        for side in SIDES:
            team = self.stage.on(side)
            team.streak = team.streak + 1 if side == winning else 0

    def _incomes(self, side: Side, winning: Side) -> Iterator[tuple[Seat, int]]:
        bank, plot = self.stage.on(side).bank, self.plot
        amount = bank.won(plot.reason) if side == winning else bank.lost()
        dead = sum(kill.victim_side != side for kill in self.kills)
        amount += round_bonus(side, bool(plot.site) and side != winning, dead)
        for index in range(5):
            # Whoever runs the clock down alive as T gets nothing.
            if not (side == "T" and plot.reason == "time" and (side, index) in self.alive):
                yield (side, index), amount
