"""Predictions beside what came and beside references that anybody could make."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scripts.reality.scores import Figure, Predictions, measured


class Prediction(NamedTuple):
    """`row`: the file's data row, from 0. `kind`: what is predicted. `chance`: that it comes."""

    row: int
    kind: str
    chance: float


class Judgement(NamedTuple):
    """The figures of one kind: ours, and those of the references, by name."""

    n: int
    ours: dict[str, Figure]
    references: dict[str, dict[str, Figure]]


def write(predictions: Sequence[tuple[object, ...]], path: Path) -> None:
    """A CSV file whose columns are those of the predictions; the last one is the chance, `p`."""
    columns = getattr(predictions[0], "_fields", ()) if predictions else Prediction._fields
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow((*columns[:-1], "p"))
        out.writerows((*known, f"{chance:.6g}") for *known, chance in predictions)


def compared(
    chances: Sequence[float],
    outcomes: Sequence[float],
    maps: Sequence[int],
    references: Mapping[str, Sequence[float]],
) -> Judgement:
    """What our chances are worth, beside the references and the constant that is right on average."""
    came, of = np.asarray(outcomes, dtype=float), np.asarray(maps)
    constant = np.full(len(came), came.mean())
    others = {"constant": constant, **{name: np.asarray(one) for name, one in references.items()}}
    return Judgement(
        len(came),
        measured(Predictions(np.asarray(chances), came, of)),
        {name: measured(Predictions(one, came, of)) for name, one in others.items()},
    )
