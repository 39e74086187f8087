"""A market: one proposition, one outcome ("it happens"), named by type and specifiers."""

from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Literal

import msgspec


class MarketStatus(IntEnum):
    """The feed's codes; no other is ever sent."""

    ACTIVE = 1
    INACTIVE = 0
    SUSPENDED = -1
    SETTLED = -3
    CANCELLED = -4


#: In which phase of a match a price was made. The last rounds are those of which each may end its map.
PricePhase = Literal["before_play", "in_play", "last_rounds"]
MarketKey = tuple[int, str]  #: a market within its match: the id of its type, its specifiers

#: The members as module variables: to read one from its class takes several times as long as everything else
#: that a loop over a book does with a market.
ACTIVE, SUSPENDED = MarketStatus.ACTIVE, MarketStatus.SUSPENDED
SETTLED, CANCELLED = MarketStatus.SETTLED, MarketStatus.CANCELLED
OPEN = (ACTIVE, SUSPENDED)
CLOSED = (SETTLED, CANCELLED)
MATCH_WINNER, MAP_WINNER = 1, 6  #: types, as the catalogue has them
HELD = "held"  #: `settled_by` of an open market that the engine must neither price nor settle


class Result(StrEnum):
    WON = "won"
    LOST = "lost"
    VOID = "void"


class Market(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The present state of one offer on a match.

    `specifiers` is canonical text, ``map=1|round=3|team=home`` in the catalogue's order, "" for none.
    `odds` are decimal odds with at most three decimals; `probability` is the model's, without margin.
    `group` is shared by markets of which exactly one wins: their inverse odds sum to 1 + margin; "" for a
    market that is priced alone. `reason` says why it is suspended, or why it was settled or voided.
    `result` is set while settled or voided, and `rests_on` then has the numbers of the events, rounds and map
    ends that it rests on.
    `settled_by` says who settled it last, and stays after a rollback: an open market with it set waits
    to be settled again, by an operator only if it is `held`. `opened_at`, `priced_at`: Unix ms, and so are
    `offered_until`, when it last went off offer (0: it never did), and `first_opened_at`: `opened_at` is set
    again when its bets are void because the format changed (0: opened by a process that did not record it).

    `favourite`: of the lines of its total or handicap, its own was nearest to evens when its price was made.

    `phase`, `group_size` and `margin_factor` are what a profile needs to make a price of its own
    (`domain.profiles`): the phase in which this price was made, how many markets its group had, and by how
    much a trader has multiplied the margin.
    """

    type_id: int
    specifiers: str
    status: MarketStatus
    odds: Decimal
    probability: float
    group: str = ""
    reason: str = ""
    result: Result | None = None
    void_reason_id: int | None = None
    rests_on: tuple[int, ...] = ()
    settled_by: str = ""
    opened_at: int = 0
    priced_at: int = 0
    offered_until: int = 0
    first_opened_at: int = 0
    phase: PricePhase = "before_play"
    group_size: int = 2
    margin_factor: float = 1.0
    favourite: bool = False

    @property
    def family(self) -> str:
        """What the types have in common whose markets form a group (`trading.rules.Rule.family`); "" for a
        market that is priced alone."""
        return self.group.partition(":")[0]

    @property
    def key(self) -> MarketKey:
        return self.type_id, self.specifiers

    @property
    def open(self) -> bool:
        """It has no result yet: on offer (`active`) or suspended. A recovery replays the odds of these."""
        return self.status in OPEN

    @property
    def closed(self) -> bool:
        """Settled or voided. A market that is neither open nor closed was withdrawn (`inactive`)."""
        return self.status in CLOSED

    @property
    def fair_probability(self) -> float | None:
        """The probability that a bet on it wins, without margin: 1 or 0 once it is settled. None while it is
        not on offer, for it may be of an earlier state, and when it is void."""
        if self.status is ACTIVE:
            return self.probability
        return float(self.result is Result.WON) if self.status is SETTLED else None

    @property
    def held(self) -> bool:
        """An operator rolled its settlement back and has not settled, voided or released it yet."""
        return self.open and self.settled_by == HELD

    def took_bets_since(self, since: int) -> bool:
        """Whether bets may have been placed on it at `since` (Unix ms) or later."""
        return self.status is ACTIVE or max(self.priced_at, self.offered_until) >= since


def with_offer_end(old: Market | None, new: Market, now: int) -> Market:
    """`new`, with `offered_until` set to `now` (Unix ms) if it goes off offer now."""
    went = old is not None and old.status is ACTIVE and new.status is not ACTIVE
    return msgspec.structs.replace(new, offered_until=now) if went else new


Book = dict[MarketKey, Market]  #: the markets of one match by `Market.key`


def market_name(type_id: int, specifiers: str) -> str:
    """A market's key as text, unique within its match: ``13:map=1|round=3|team=home``."""
    return f"{type_id}:{specifiers}"


def market_type(name: str) -> int:
    """The type of the market with this `market_name`."""
    return int(name.partition(":")[0])


#: What the name of a market looks like where a client gives one: printable ASCII, since readers of a JSON
#: schema differ in what `\s` is.
NAME_PATTERN = r"^[1-9][0-9]{0,8}:[!-~]*$"


def key_of_name(name: str) -> MarketKey | None:
    """The key of a market by its name; None for what is no name."""
    type_id, _, specifiers = name.partition(":")
    if not (type_id.isascii() and type_id.isdecimal() and len(type_id) < 10 and len(specifiers) <= 200):
        return None
    return int(type_id), specifiers


def specifier_values(specifiers: str) -> dict[str, str]:
    """``map=1|team=home`` as a dict; "" as an empty one. Raises `ValueError`."""
    parts = [part.partition("=") for part in specifiers.split("|")] if specifiers else []
    found = {name: value for name, _, value in parts}
    if len(found) < len(parts) or not all(equals for _, equals, _ in parts):
        raise ValueError(f"specifiers {specifiers!r}: not name=value, each name once, joined by |")
    return found
