"""What traders have set on one match: part of its state, so that any worker, after any restart, prices alike.

A group is named as in `Market.group`; a line of a total or a handicap is named by its group. Every item has a
`key`, which no other item of its field shares.
"""

from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from app.domain.market import MarketKey, PricePhase

#: Why a market is suspended, for clients: a trader's own text stays in the audit log.
MARKET_SUSPENDED = "market suspended by an operator"
TYPE_CLOSED = "market type closed by an operator"
LINE_WITHDRAWN = "line withdrawn by an operator"
CONTRADICTS_HELD = "related to a probability that an operator holds"
MOVED_TOO_FAR = "its price would move further than an operator allows"
#: All of these: the engine sets them, and replaces them when they no longer apply.
CONTROL_REASONS = frozenset((MARKET_SUSPENDED, TYPE_CLOSED, LINE_WITHDRAWN, CONTRADICTS_HELD, MOVED_TOO_FAR))


class SuspendedMarket(msgspec.Struct, frozen=True, omit_defaults=True):
    """A market that is not on offer until it is released; neither are the others of its group."""

    type_id: int
    specifiers: str = ""
    reason: str = ""

    @property
    def key(self) -> MarketKey:
        return self.type_id, self.specifiers


class SuspendedGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A group that is not on offer until it is released."""

    group: str
    reason: str = ""

    @property
    def key(self) -> str:
        return self.group


class ClosedType(msgspec.Struct, frozen=True, omit_defaults=True):
    """A market type that is not on offer on this match until it is opened; neither is what shares a group
    with it."""

    type_id: int
    reason: str = ""

    @property
    def key(self) -> int:
        return self.type_id


class LineControl(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that is on offer beside those that the engine chooses (`added`), or never (withdrawn)."""

    group: str
    added: bool
    reason: str = ""

    @property
    def key(self) -> str:
        return self.group


class MarginControl(msgspec.Struct, frozen=True, omit_defaults=True):
    """The margin, a fraction, of the groups of one `family` (`Rule.family`; "": all) in one phase ("": all).
    `long_shots` is the part of it, from 0 to 1, that is spread over a group's markets equally and not in
    proportion to their probability: the less likely result bears more."""

    margin: float
    family: str = ""
    phase: PricePhase | Literal[""] = ""
    long_shots: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        return self.family, self.phase


class StrengthShift(msgspec.Struct, frozen=True):
    """From this place on (`rounds` won on the map with this number) home is stronger than away by so many
    points more than before. Rounds before it count at the skill of that time."""

    map: int
    rounds: int
    points: float

    @property
    def key(self) -> tuple[int, int]:
        return self.map, self.rounds


class HeldProbability(msgspec.Struct, frozen=True, omit_defaults=True):
    """The probability of one market as a trader set it; the others of its group share the rest."""

    group: str
    type_id: int
    specifiers: str
    probability: float
    reason: str = ""

    @property
    def key(self) -> str:
        return self.group

    @property
    def market_key(self) -> MarketKey:
        return self.type_id, self.specifiers


class TradingControls(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that traders have set on a match. `max_move`: a market whose odds would move by this fraction or
    more at once is suspended until they are nearer again, or it is released; 0: any move."""

    suspended_markets: tuple[SuspendedMarket, ...] = ()
    suspended_groups: tuple[SuspendedGroup, ...] = ()
    closed_types: tuple[ClosedType, ...] = ()
    lines: tuple[LineControl, ...] = ()
    margins: tuple[MarginControl, ...] = ()
    max_move: float = 0.0
    shifts: tuple[StrengthShift, ...] = ()
    held: tuple[HeldProbability, ...] = ()


NO_CONTROLS = TradingControls()


class _Item(Protocol):
    @property
    def key(self) -> object: ...


Item = TypeVar("Item", bound=_Item)
_ITEMS = tuple(name for name in TradingControls.__struct_fields__ if name != "max_move")


def with_item(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    """The items with this one, in place of the one with its key."""
    return (*without(items, item.key), item)


def without(items: tuple[Item, ...], key: object) -> tuple[Item, ...]:
    """The items without the one with this key."""
    return tuple([one for one in items if one.key != key])


def find(items: Iterable[Item], key: object) -> Item | None:
    """The item with this key."""
    return next((one for one in items if one.key == key), None)


def taken_back(
    now: TradingControls, before: TradingControls, after: TradingControls
) -> TradingControls | None:
    """The controls of `now` without the change that led from `before` to `after`; None where something that
    it changed has been changed again since."""
    old, new, present = _settings(before), _settings(after), _settings(now)
    changed = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    if any(present.get(key) != new.get(key) for key in changed):
        return None
    settings = {key: value for key, value in present.items() if key not in changed}
    settings |= {key: old[key] for key in changed if key in old}
    fields = {
        name: tuple([value for (field, _), value in settings.items() if field == name]) for name in _ITEMS
    }
    return replace(now, **fields, max_move=settings["max_move", ""])


def _settings(controls: TradingControls) -> dict[tuple[str, object], object]:
    """Each setting by its field and key."""
    found: dict[tuple[str, object], object] = {
        (name, one.key): one for name in _ITEMS for one in getattr(controls, name)
    }
    return found | {("max_move", ""): controls.max_move}
