"""A history: steps at moments, as data. Every subset of the steps is a history, too: a step that has lost
what it refers to does nothing."""

from typing import Any, Literal

import msgspec

Oddities = Literal["none", "gentle", "common"]
MATCHES, TENANTS = 3, 3


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="step"):
    """Something that happens `at` seconds after the beginning."""

    at: float


class Play(Step, frozen=True, kw_only=True, tag="play"):
    """The match with this number is created and played, at `speed` times the speed of a real one, the first
    `rush` game seconds of it at once. `seed` decides what happens in it."""

    match: int
    seed: int
    best_of: Literal[1, 3] = 1
    speed: float = 12.0
    rush: float = 0.0
    oddities: Oddities = "none"


class Rival(Step, frozen=True, kw_only=True, tag="rival"):
    """A second server sends the log of this match from now on."""

    match: int


class Order(Step, frozen=True, kw_only=True, tag="order"):
    """An operator's command on a match. `pick` chooses among what there is when it is given: one of the open
    markets, of the settled ones, or of the refused senders."""

    match: int
    command: str
    fields: dict[str, Any] = {}
    pick: int | None = None


class Book(Step, frozen=True, kw_only=True, tag="book"):
    """A match is put into a tenant's offer, or taken out of it."""

    tenant: int
    match: int
    booked: bool


class SwitchType(Step, frozen=True, kw_only=True, tag="switch_type"):
    """A market type is switched on or off for a tenant."""

    tenant: int
    type_id: int
    on: bool


class NewKey(Step, frozen=True, kw_only=True, tag="new_key"):
    """A tenant's key is replaced by a new one; the old one ends."""

    tenant: int


class Leave(Step, frozen=True, kw_only=True, tag="leave"):
    """A tenant's client of the feed or the stream disconnects, for `seconds`."""

    tenant: int
    channel: Literal["feed", "stream"]
    seconds: float


class Recover(Step, frozen=True, kw_only=True, tag="recover"):
    """A tenant requests a recovery without need."""

    tenant: int


class Break(Step, frozen=True, kw_only=True, tag="break"):
    """A fault (its name in the fault table) hits `host`, for `seconds`."""

    fault: str
    host: str
    seconds: float


AnyStep = Play | Rival | Order | Book | SwitchType | NewKey | Leave | Recover | Break


class History(msgspec.Struct, frozen=True):
    """`steps` in the order of their moments; it is over after `seconds`, and then everything is mended."""

    seed: int
    seconds: float
    steps: tuple[AnyStep, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of its faults, sorted."""
        return tuple(sorted(step.fault for step in self.steps if isinstance(step, Break)))
