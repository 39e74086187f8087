"""When market types were switched off for a tenant. `domain.tenant_offer` says what it then receives.

A place in the change log decides: what was published before the switch stays as it was published.
"""

from collections.abc import Mapping, Sequence

import msgspec

from app.domain.settlement import LedgerEntry

#: The types that are off, each with the time (Unix ms) up to which a market was opened that was offered.
OffTypes = Mapping[int, int]
NONE_OFF: OffTypes = {}


class TypeOff(msgspec.Struct, frozen=True, omit_defaults=True):
    """An interval of the change log in which a type was off: after the change `off_seq` and before `on_seq`
    (None: it still is). `off_at` (Unix ms): a market that was first opened later was not offered before.
    `on_at` is when the type was switched on again."""

    type_id: int
    off_at: int
    off_seq: int
    on_at: int | None = None
    on_seq: int | None = None

    def contains(self, seq: int) -> bool:
        """Whether the type was off at the change `seq`."""
        return self.off_seq < seq and (self.on_seq is None or seq < self.on_seq)

    @property
    def last_seq(self) -> int:
        """The number of its last switch."""
        return self.on_seq or self.off_seq


Intervals = Sequence[TypeOff]  #: of one tenant, in the order in which they began


def off_at_seq(intervals: Intervals, seq: int) -> OffTypes:
    """The types that were off at the change `seq`."""
    return {one.type_id: one.off_at for one in intervals if one.contains(seq)} if intervals else NONE_OFF


def off_now(intervals: Intervals) -> OffTypes:
    """The types that are off."""
    return {one.type_id: one.off_at for one in intervals if one.on_seq is None} if intervals else NONE_OFF


def last_switch(intervals: Intervals, type_id: int | None = None) -> int:
    """The number of the last switch, of this type or of any; 0 without one."""
    return max((one.last_seq for one in intervals if type_id in (None, one.type_id)), default=0)


def was_offered(off: OffTypes, type_id: int, first_opened_at: int) -> bool:
    """Whether a market may have been offered to the tenant: its type is not among the types that are `off`,
    or it was there before. Its results are then the tenant's."""
    limit = off.get(type_id)
    return limit is None or first_opened_at <= limit


def entry_offered(entry: LedgerEntry, intervals: Intervals) -> bool:
    """Whether a stored entry of the ledger was published to the tenant; its id is its place."""
    off = off_at_seq(intervals, entry.id)
    return not off or was_offered(off, entry.type_id, entry.first_opened_at)


def offered_entries(entries: Sequence[LedgerEntry], intervals: Intervals) -> Sequence[LedgerEntry]:
    """The entries that were published to the tenant."""
    return [one for one in entries if entry_offered(one, intervals)] if intervals else entries
