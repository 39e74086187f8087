"""How fast and how well simulated rounds are played (`round_numbers.toml`)."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


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
