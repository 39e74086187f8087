"""Kills of a round: whose the next one is, and how often it is with a headshot or the AWP.

The first kill is fitted to snapshots of professional rounds: between two moments of which the first shows
all ten players alive and the second one less. What players and bomb mean later is fitted to simulated maps:
moments 20 s apart do not tell the order of the kills between them, nor those that end a round. Shares are of
one real map, which has few rounds: each counts one yes and one no more than were seen. How much rarer an AWP
is in the first two rounds of a half is the snapshots' to say.
"""

import csv
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from app.domain.changes import MatchChange, RoundFinished, RoundsVoided
from app.domain.match import TimelineEvent
from app.trading import model
from app.trading.coefficients import DataSet, KillCoefficients, load
from app.trading.round_endings import PLAYERS
from scripts.fit.logs import LOG, followed, simulated_maps, simulated_set, teams, text_of
from scripts.fit.regression import fit as regress
from scripts.fit.regression import scaled
from scripts.fit.rounds import FILE, NAME
from scripts.reality.labels import RoundKey
from scripts.reality.place import data_set
from scripts.reality.round_predictions import RoundPredictor
from scripts.reality.snapshots import DATES, Snapshot, half_of, opened, read

_DIGITS = 4
_MAX_ROUNDS = 24
#: Places in a half (from 0) of rounds in which hardly anybody can pay for an AWP.
_POOR = (0, 1)
_AWP = ("ct_weapon_awp", "t_weapon_awp")
Timeline = tuple[int, tuple[TimelineEvent, ...]]  #: of a round, with the round's place in its half, from 0


def fit(data: Path) -> tuple[KillCoefficients, list[DataSet]]:
    """The section `kills`, from the snapshots in `data`, the log beside it and simulated maps."""
    snapshots, log = list(read(data / FILE)), data.parent / LOG
    text = text_of(log)
    rounds = _timelines(followed(text, *teams(text))[1])
    simulated = [one for each in simulated_maps() for one in _timelines(followed(*each)[1])]
    ct, before = _regressed(_first_kills(snapshots))
    _, player, plant = _regressed(row for _, timeline in simulated for row in _kills_of(timeline))
    kills = [(place, [event for event in timeline if event.counts_for_markets]) for place, timeline in rounds]
    awp = _share(any(kill.weapon == "awp" for kill in each) for place, each in kills if place not in _POOR)
    found = KillCoefficients(
        ct=ct,
        round=before,
        player=player,
        plant=plant,
        headshot=_share(kill.headshot for place, each in kills if place for kill in each),
        pistol_headshot=_share(kill.headshot for place, each in kills if not place for kill in each),
        awp=awp,
        poor_awp=round(awp * _how_much_rarer(data / FILE, snapshots), _DIGITS),
    )
    lines = text.count("\n")
    return found, [
        data_set(data / FILE, len(snapshots), DATES),
        data_set(log, lines, "one map"),
        simulated_set(),
    ]


def _regressed(rows: Iterable[tuple[tuple[float, ...], bool]]) -> Iterator[float]:
    """The weights of what is known of each kill, for CT."""
    seen, by_ct = zip(*rows, strict=True)
    columns = np.array(seen)
    weights = regress(columns, np.array(by_ct, dtype=float), scaled(columns))
    return (round(float(weight), _DIGITS) for weight in weights)


def _first_kills(snapshots: Iterable[Snapshot]) -> Iterator[tuple[tuple[float, ...], bool]]:
    """Of each first kill that is known: 1, the logit of the round before it began, and whether CT killed."""
    predictor = RoundPredictor(load().rounds, NAME)
    for row, after in pairwise(snapshots):
        predictor.follow(row)
        left = after.state.ct.alive, after.state.t.alive
        full = (row.state.ct.alive, row.state.t.alive) == (PLAYERS, PLAYERS)
        if full and row.key == after.key and sum(left) == 2 * PLAYERS - 1:
            yield (1.0, model.logit(predictor.before)), left[0] == PLAYERS


def _kills_of(timeline: Iterable[TimelineEvent]) -> Iterator[tuple[tuple[float, ...], bool]]:
    """Of each kill of a round: 1, how many players more CT has, -1 once the bomb is planted, and whether CT
    killed."""
    alive, plant = {"CT": PLAYERS, "T": PLAYERS}, 0.0
    for event in timeline:
        if event.type == "bomb_planted":
            plant = -1.0
        elif event.counts_for_markets and event.target_side:
            yield (1.0, float(alive["CT"] - alive["T"]), plant), event.target_side == "T"
        if event.type == "kill" and event.target_side:
            alive[event.target_side] -= 1


def _timelines(changes: Iterable[MatchChange]) -> list[Timeline]:
    """Those of the rounds that counted."""
    found: dict[tuple[int, int], Timeline] = {}
    for change in changes:
        if isinstance(change, RoundFinished):
            one = change.round
            found[one.map, one.number] = model.half_of(one.number - 1, _MAX_ROUNDS, 0)[1], change.timeline
        elif isinstance(change, RoundsVoided):
            for one in change.rounds:
                found.pop((one.map, one.number), None)
    return list(found.values())


def _how_much_rarer(path: Path, snapshots: Iterable[Snapshot]) -> float:
    """The share of poor rounds of regulation in which somebody has an AWP, over that of the other rounds."""
    with opened(path) as file:
        has = [any(float(row[name]) for name in _AWP) for row in csv.DictReader(file)]
    seen: dict[RoundKey, bool] = {}
    for one in snapshots:
        if not one.state.overtime:
            seen[one.key] = seen.get(one.key, False) or has[one.row]
    poor, rich = (
        [found for (_, index), found in seen.items() if (half_of(index)[1] in _POOR) is is_poor]
        for is_poor in (True, False)
    )
    return sum(poor) / len(poor) * len(rich) / sum(rich)


def _share(seen: Iterable[bool]) -> float:
    found = list(seen)
    return round((sum(found) + 1) / (len(found) + 2), _DIGITS)
