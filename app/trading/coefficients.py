"""The fitted numbers of the models, as `nox -s fit` writes them: no coefficient is written by hand.

One section for each fit; `data` lists what they were fitted to. The rules of the game are code and not here.
"""

from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

import msgspec

from app.domain import catalogue

#: By whether the side lost or won, and by its level: the chance of each level in the next round.
Moves = tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]


class DataSet(msgspec.Struct, frozen=True):
    """A file that something was fitted to. `dates` says when its maps were played."""

    name: str
    rows: int
    dates: str
    sha256: str


class PhaseModel(msgspec.Struct, frozen=True):
    """A logistic model: what a logit of CT's advantage (`ct_logit`) counts for, and each feature's weight
    (`round_features`)."""

    ct_logit: float = msgspec.field(name="lean")
    weights: tuple[float, ...]


class RoundLimits(msgspec.Struct, frozen=True):
    """How much the last seconds of clock and fuse leave possible (`round_model`); rates are for a second.

    `plant`, `defuse`: at which T, or CT, succeed in what they must do while there is time for it;
    `free_defuse`: the latter with no T alive. `unseen_defuse`: constant and slope of the logit of a defuse
    with no T alive, while it is not known whether one has begun; `hidden_defuse`: what such a defuse leaves
    possible with T alive. `kit`: how often CT has a kit. `t_kills`, `ct_kills`: kills of each living player
    near the end of a round; `t_fights`, `ct_fights`: while they fight.
    """

    plant: float
    defuse: float
    free_defuse: float
    unseen_defuse: tuple[float, float]
    hidden_defuse: float
    kit: float
    t_kills: float
    ct_kills: float
    t_fights: float
    ct_fights: float


class RoundCoefficients(msgspec.Struct, frozen=True):
    """`models`: by phase of the round, then by what is known (a bit for each group of features). `endings`:
    by phase, then by the distinction between ways to end (`round_endings`), the weights of its features.

    `sides` is what each map of the data set adds for CT, in logits; `skill_spread` how much two teams of it
    differ. Both are for judging on that data: today's sides are in the catalogue, today's skill in ratings.
    """

    models: dict[str, dict[int, PhaseModel]]
    limits: RoundLimits
    endings: dict[str, dict[str, tuple[float, ...]]]
    sides: dict[str, dict[str, float]]
    skill_spread: float


class RatingCoefficients(msgspec.Struct, frozen=True):
    """Teams' ratings (`ratings`). In logits of winning a map, variances in their squares.

    `points_per_logit`: points of the public ranking; `prior_spread`: of teams that nothing is known of;
    `strength_spread`: of teams whose points are known; `drift`: variance that a day adds; `form_spread`: of
    the day's form of two teams; `pick`: for the team that chose the map; `margin`, `noise`: a score's margin
    over the root of the format's rounds, as a measurement of the logit; `rank_weight`: for each logarithm of
    the place in a ranking; `unlisted_points`: of a team that the ranking does not list; `round_skill`: logits
    of a round for one of a map, times the root of the format's rounds.
    """

    points_per_logit: float
    prior_spread: float
    strength_spread: float
    drift: float
    form_spread: float
    pick: float
    margin: float
    noise: float
    rank_weight: float
    unlisted_points: float
    round_skill: float


class PlayerCoefficients(msgspec.Struct, frozen=True):
    """Players' kills on a map (`player_kills`): their mean in a round that the player's team has `won` or
    `lost`; `rounds`: how many of a player's own rounds weigh as much as what is known of all players;
    `decay`: what a round counts less with each match that the player has played since; `dispersion`: the
    variance of one player's kills over their mean, the final score known."""

    won: float
    lost: float
    rounds: float
    decay: float
    dispersion: float


class KillCoefficients(msgspec.Struct, frozen=True):
    """The kills of a round (`round_endings`, `round_markets`). In logits of CT making the next kill: `ct`;
    `round`, for each logit of the round before it began; `player`, for each player alive that T has less;
    `plant`, what a planted bomb takes from it.

    Shares of kills: `headshot`, in pistol rounds `pistol_headshot`. Shares of rounds with a kill by the AWP:
    `awp`, and in pistol rounds and those after them `poor_awp`.
    """

    ct: float
    round: float
    player: float
    plant: float
    headshot: float
    pistol_headshot: float
    awp: float
    poor_awp: float


class MarketCoefficients(msgspec.Struct, frozen=True):
    """How far chances to win a match are off before play, as variances of their logits: `own_error` ours,
    from ratings; `source_error` what one bookmaker's odds say."""

    own_error: float
    source_error: float


class MapCoefficients(msgspec.Struct, frozen=True):
    """How a map's rounds go on: both sides' resources in few levels (`economy`).

    `thresholds` are a side's resources, in the game's money, at which the next level begins; `ct` and `t`
    what a level of that side is worth to CT, in logits; `pistol` is CT's logit in a half's first round.
    `ct_moves` and `t_moves`: the chance of each next level, by class of the round's position in its half, by
    whether the side lost or won, and by its level. A map on which CT wins a share of rounds with logit x adds
    `side_offset` + `side_slope` * x for CT; `sides` is what those of a data set add. `today`: what a level is
    worth on maps of today from the third round of a half on, where `ct` and `t` are 1. `skill_spread`: how
    much the teams of a match differ of which nothing is known, in logits of a round.
    """

    thresholds: tuple[int, ...]
    ct: tuple[float, ...]
    t: tuple[float, ...]
    pistol: float
    ct_moves: tuple[Moves, ...]
    t_moves: tuple[Moves, ...]
    sides: dict[str, dict[str, float]]
    side_offset: float
    side_slope: float
    today: float
    skill_spread: float


class Coefficients(msgspec.Struct, frozen=True):
    """Everything that was fitted."""

    data: tuple[DataSet, ...]
    kills: KillCoefficients
    maps: MapCoefficients
    market: MarketCoefficients
    players: PlayerCoefficients
    rounds: RoundCoefficients
    ratings: RatingCoefficients


class _Document(msgspec.Struct, frozen=True):
    """All numbers that prices rest on and that are no rule of the game: the coefficients, and the share of
    rounds that CT wins on each map (`domain.catalogue`)."""

    coefficients: Coefficients
    ct_rates: dict[str, float]


class OtherCoefficients(ValueError):
    """A document is no version of the coefficients, or comes too late: this process has priced already."""


@lru_cache(maxsize=1)
def document() -> bytes:
    """The numbers of this package, or those that were chosen by `use`, as they are stored with matches."""
    if _chosen:
        return _chosen[0]
    text = files(__package__).joinpath("coefficients.json").read_bytes()
    whole = {"coefficients": msgspec.json.decode(text), "ct_rates": catalogue.load().ct_rates}
    return msgspec.json.encode(whole, order="sorted")


@lru_cache(maxsize=1)
def version() -> str:
    """The SHA-256 of `document`, as hex: it names the version."""
    return sha256(document()).hexdigest()


def use(other: bytes) -> None:
    """Price by another version's document from now on, in a process that has not priced yet. Raises
    `OtherCoefficients`."""
    if _numbers.cache_info().currsize:
        raise OtherCoefficients("This process has priced already.")
    try:
        msgspec.json.decode(other, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise OtherCoefficients(f"That is no version of the coefficients: {error}.") from error
    _chosen[:] = [other]
    document.cache_clear()
    version.cache_clear()


_chosen: list[bytes] = []


@lru_cache(maxsize=1)
def _numbers() -> _Document:
    return msgspec.json.decode(document(), type=_Document)


@lru_cache(maxsize=1)
def load() -> Coefficients:
    """The coefficients that this process prices by, read once."""
    return _numbers().coefficients


def ct_rates() -> dict[str, float]:
    """CT's published share of rounds, by map."""
    return _numbers().ct_rates
