"""A finding of the examination."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class State(StrEnum):
    """`unknown`: it cannot be determined from here; not counted as ill."""

    WELL = "well"
    ILL = "ill"
    UNKNOWN = "unknown"


class Finding(msgspec.Struct, frozen=True):
    """What was found about a `part`, and what to do: nothing where it is well."""

    part: str
    state: State
    detail: str
    action: str = ""


def well(part: str, detail: str) -> Finding:
    return Finding(part, State.WELL, detail)


def ill(part: str, detail: str, action: str) -> Finding:
    return Finding(part, State.ILL, detail, action)


def unknown(part: str, detail: str, action: str) -> Finding:
    return Finding(part, State.UNKNOWN, detail, action)


def judged(part: str, wrong: Iterable[str], otherwise: str, action: str) -> Finding:
    """Ill, with everything that is `wrong`, or well with what holds `otherwise`."""
    found = "; ".join(wrong)
    return ill(part, found, action) if found else well(part, otherwise)
