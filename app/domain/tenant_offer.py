"""What a tenant receives of a market: which types are switched off for it, and by which profile its odds are
made. A place in the change log decides about both, so that every channel, live or later, gives the same.

    when a type is switched off      an open market that was active is suspended, once
    while it is off                  a market that was first opened before: nothing but its results, voids and
                                     rollbacks; one that was first opened later: nothing, except where the
                                     clock that opened it was behind: it is then suspended from the start
    from when it is switched on      every market that is open then, and every later one
    when its profile changes         every open market whose odds change by that, once, if its type is on
"""

from collections.abc import Collection, Hashable, Sequence

import msgspec
from propcache.api import cached_property

from app.domain import frame_types
from app.domain.market import Market, MarketStatus
from app.domain.profiles import Profile, ProfileChange, profile_at
from app.domain.types_off import NONE_OFF, OffTypes, TypeOff, last_switch, off_at_seq, off_now, was_offered

REASON = "this market type is switched off"


class OfferRules(msgspec.Struct, frozen=True, dict=True):
    """What holds for a tenant at one place in the change log. They are false where nothing differs from the
    standard offer."""

    off: OffTypes = NONE_OFF
    profile: Profile | None = None

    def __bool__(self) -> bool:
        return bool(self.off) or self.profile is not None

    @cached_property
    def key(self) -> Hashable:
        """Equal for rules by which all markets look the same."""
        return self.key_for(self.off)

    def key_for(self, type_ids: Collection[int]) -> Hashable:
        """Equal for rules by which markets of these types look the same."""
        off = sorted((one, self.off[one]) for one in self.off.keys() & type_ids)
        return tuple(off), self.profile and self.profile.key

    def priced(self, market: Market) -> Market:
        """The market with the tenant's odds."""
        return self.profile.priced(market) if self.profile else market

    def market_in_list(self, market: Market) -> Market | None:
        """A market as lists of present markets show it: never active while its type is off, and None if it
        was not offered before."""
        if market.type_id not in self.off:
            return self.priced(market)
        if not was_offered(self.off, market.type_id, market.first_opened_at):
            return None
        market = self.priced(market)
        return suspended(market) if market.status is MarketStatus.ACTIVE else market

    def markets_in_list(self, markets: Sequence[Market]) -> Sequence[Market]:
        """`market_in_list` of each, without those that are left out."""
        if not self:
            return markets
        return [shown for market in markets if (shown := self.market_in_list(market))]

    def changed_market(self, market: Market, frame: str) -> Market | None:
        """A market that has changed, as a live message lists it; None: the tenant is not notified. `frame` is
        the type of the frame about the change, and says which change it was.

        While its type is off, the tenant is notified of its result. It receives the market, suspended, when a
        rollback has opened it again, or when it is new and counts as opened before the switch: lists show it
        from then on."""
        if market.type_id not in self.off:
            return self.priced(market)
        if not was_offered(self.off, market.type_id, market.first_opened_at):
            return None
        if not market.open:
            return self.priced(market)
        opened_again = market.settled_by and frame != frame_types.MARKET_UPDATED
        return self.market_in_list(market) if opened_again or frame == frame_types.MARKET_CREATED else None


STANDARD = OfferRules()


class TenantOffer(msgspec.Struct, frozen=True, dict=True):
    """What a tenant was and is offered: the intervals in which types were off, and its profiles."""

    types_off: tuple[TypeOff, ...] = ()
    profiles: tuple[ProfileChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.types_off or self.profiles)

    def at(self, seq: int) -> OfferRules:
        """What held at the change `seq`."""
        if seq > self._last_change:
            return self.now
        return OfferRules(off_at_seq(self.types_off, seq), profile_at(self.profiles, seq))

    @cached_property
    def now(self) -> OfferRules:
        """What holds."""
        if not self:
            return STANDARD
        profile = self.profiles[-1].profile if self.profiles else None
        return OfferRules(off_now(self.types_off), profile)

    def places(self) -> list[tuple[int, int]]:
        """The seq of each change, and when it was (Unix ms)."""
        ends = [(one.on_seq, one.on_at) for one in self.types_off if one.on_seq and one.on_at]
        return [
            *((one.off_seq, one.off_at) for one in self.types_off),
            *ends,
            *((one.seq, one.at) for one in self.profiles),
        ]

    def within(self, first: int, last: int) -> "TenantOffer":
        """What this is for the changes from `first` to `last`: equal for tenants to which these look the
        same."""
        off = [_within(one, first, last) for one in self.types_off if _concerns(one, first, last)]
        before = profile_at(self.profiles, first)
        since = [one for one in self.profiles if first <= one.seq < last]
        return TenantOffer(
            tuple(sorted(off, key=lambda one: (one.type_id, one.off_seq))),
            (*([ProfileChange(0, 0, before)] if before else []), *since),
        )

    @cached_property
    def _last_change(self) -> int:
        return self.last_change()

    def last_change(self, type_id: int | None = None) -> int:
        """The seq of the last change that concerns markets of this type, or of any; 0 without one."""
        own = self.profiles[-1].seq if self.profiles else 0
        return max(own, last_switch(self.types_off, type_id))


NO_CHANGES = TenantOffer()  #: of tenants that have had the standard offer throughout


def _concerns(one: TypeOff, first: int, last: int) -> bool:
    """Whether the type was off at one of these changes."""
    return one.off_seq < last and (one.on_seq is None or one.on_seq > first)


def _within(one: TypeOff, first: int, last: int) -> TypeOff:
    """The interval, without where it began or ended outside of these changes."""
    begins = one.off_seq if one.off_seq >= first else 0
    if one.on_seq is None or one.on_seq > last:
        return TypeOff(one.type_id, one.off_at, begins)
    return msgspec.structs.replace(one, off_seq=begins)


def suspended(market: Market) -> Market:
    """An active market as a tenant sees it whose type is off."""
    return msgspec.structs.replace(market, status=MarketStatus.SUSPENDED, reason=REASON)
