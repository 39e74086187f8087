"""A map before its first round that counts: loading, warm-up, sometimes a knife round."""

from app.sandbox.simulator import lines
from app.sandbox.simulator.economy import OVERTIME_START
from app.sandbox.simulator.log import Lines, somewhere
from app.sandbox.simulator.plot import Round
from app.sandbox.simulator.scene import Scene
from app.sandbox.simulator.stage import FREEZE, OVERTIME_ROUNDS, ROUNDS, SIDES, Stage
from app.sandbox.simulator.truth import other_side

_CVARS = (
    ("mp_maxrounds", str(ROUNDS)),
    ("mp_overtime_enable", "true"),
    ("mp_overtime_maxrounds", str(OVERTIME_ROUNDS)),
    ("mp_overtime_startmoney", str(OVERTIME_START)),
    ("mp_freezetime", str(FREEZE)),
    ("mp_roundtime_defuse", "1.920000"),
    ("mp_friendlyfire", "true"),
)


def load(stage: Stage) -> None:
    log = stage.log
    log.write(f'Loading map "{stage.arena.name}"')
    log.write(*(lines.cvar(name, value) for name, value in _CVARS))
    log.wait(2)
    log.write(f'Started map "{stage.arena.name}" (CRC "-1")', lines.world("Warmup_Start"))


def warm_up(stage: Stage, *, brief: bool) -> Lines:
    """Players arrive and shoot each other; none of it counts."""
    rng, log = stage.rng, stage.log
    for seat in stage.seats():
        log.wait(rng.uniform(0.2, 1.0))
        kit = stage.kit(seat)
        nobody = lines.player(kit.gamer.name, kit.slot, kit.gamer.account, None)
        log.write(*lines.connected(nobody))
    for _ in range(3 if brief else rng.randint(8, 20)):
        log.wait(rng.uniform(0.5, 5))
        side = rng.choice(SIDES)
        killer, victim = (side, rng.randrange(5)), (other_side(side), rng.randrange(5))
        tags = stage.tag(killer), stage.tag(victim)
        arm = stage.kit(killer).arm
        log.write(lines.killed(tags[0], somewhere(rng, side), tags[1], somewhere(rng, victim[0]), arm, ()))
        yield from log.drain()
    log.wait(2)
    log.write(lines.world("Warmup_End"))
    yield from log.drain()


def knife_round(stage: Stage, *, brief: bool) -> Lines:
    """Knives for the choice of side; the winner looks at the map under a pause, then may swap."""
    rng, log = stage.rng, stage.log
    stage.tell_freeze()
    stage.tell_match_start(0)
    log.wait(FREEZE)
    for seat in stage.seats():
        stage.kit(seat).strip(seat[0])
        stage.kit(seat).stand_up()
    plot = Round(rng, 0.0, {"CT": [1.0] * 5, "T": [1.0] * 5}, [False] * 5, bomb=False).play()
    scene = Scene(stage, plot, knives=True)
    scene.write()
    scene.finish()
    stage.home_score = stage.away_score = 0
    for team in stage.teams:
        for kit in team.kits:
            kit.deaths = kit.kills = kit.assists = kit.damage = kit.first_kills = 0
    yield from log.drain()
    stage.tell_freeze()
    stage.tell_match_start(-1)
    log.write(lines.pause(True, "mp_pause_match"))
    log.wait(5 if brief else rng.uniform(15, 45))
    if rng.random() < 0.5:
        stage.change_sides()
    stage.tell_freeze()
    stage.tell_match_start(0)
    log.wait(2)
    log.write(lines.world("Restart_Round_(4_seconds)"))
    stage.tell_scores()
    log.wait(3)
    log.write(lines.pause(False, "mp_unpause_match"))
    log.wait(1)
    yield from log.drain()
