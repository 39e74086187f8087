"""A map before its first round that counts: loading, warm-up, sometimes a knife round."""

from app.sandbox.simulator import log_lines
from app.sandbox.simulator.economy import OVERTIME_START
from app.sandbox.simulator.log_writer import Lines, somewhere
from app.sandbox.simulator.map_state import FREEZE, OVERTIME_ROUNDS, SIDES, MapState
from app.sandbox.simulator.round_plan import BOMB_SECONDS, Fighter, RoundPlanner
from app.sandbox.simulator.round_writer import RoundWriter
from app.sandbox.simulator.truth import Side, other_side
from app.sandbox.simulator.weapons import WEAPONS

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
