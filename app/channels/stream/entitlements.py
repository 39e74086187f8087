"""What a connection may receive; connections with equal entitlements are sent the same bytes."""

from uuid import UUID

import msgspec

from app.domain import frame_types, scopes
from app.domain.tenant import Grant
from app.domain.types_off import Intervals, TypeOff, off_now
from app.wire import fields
from app.wire.fields import Group, Groups

#: The field group of the match resource that shows a change, by kind of entity.
GROUP_OF: dict[str, Group] = {
    "event": Group.DETAIL,
    "round": Group.DETAIL,
    "market": Group.MARKETS,
    "scoreboard": Group.SCOREBOARD,
}


class MatchVariant(msgspec.Struct, frozen=True):
    """What decides how the match resource looks. `tenant_id` is set only where it shows the tenant's own
    bookings, `off` where it shows markets: types that are off, each with the time of `OffTypes`."""

    groups: Groups
    tenant_id: UUID | None
    off: tuple[tuple[int, int], ...] = ()


class TenantTypes(msgspec.Struct, frozen=True):
    """A tenant for which market types were switched off, and when."""

    tenant_id: UUID
    intervals: tuple[TypeOff, ...]


class Entitlements(msgspec.Struct, frozen=True):
    """The stream scopes of a key, how matches look to it, and whether it sees finished ones only. `types` is
    set for tenants for which market types were switched off: all others share what is rendered."""

    stream_scopes: frozenset[str]
    variant: MatchVariant
    finished_only: bool
    types: TenantTypes | None = None

    def with_types(self, tenant_id: UUID, intervals: Intervals) -> "Entitlements":
        """The same for a tenant for which market types were off in these intervals."""
        shows_markets = Group.MARKETS in self.variant.groups
        off = tuple(sorted(off_now(intervals).items())) if shows_markets else ()
        types = TenantTypes(tenant_id, tuple(intervals)) if intervals else None
        variant = msgspec.structs.replace(self.variant, off=off)
        return msgspec.structs.replace(self, variant=variant, types=types)

    def frame_type(self, kind: str, frame: str) -> str:
        """The type of the frame that carries a change of an entity of this `kind` whose own frame is `frame`
        ("": none); "" when none does.

        A change that the key sees in the match resource, but has no frame of its own for, is carried by
        `match.updated`.
        """
        if frame and frame_types.REQUIRED_SCOPES[frame] in self.stream_scopes:
            return frame
        if scopes.STREAM_MATCHES in self.stream_scopes and GROUP_OF.get(kind) in self.variant.groups:
            return frame_types.UPDATED
        return ""

    def shown_by_match(self, kind: str) -> bool:
        """Whether a snapshot shows this kind of entity in the match frame, and nowhere else."""
        if kind == "match":
            return True
        elsewhere = kind == "market" and scopes.STREAM_MARKETS in self.stream_scopes
        return GROUP_OF.get(kind) in self.variant.groups and not elsewhere


def entitlements_of(grant: Grant) -> Entitlements:
    groups = fields.groups(grant.scopes)
    tenant_id = grant.tenant.id if Group.INTERNALS in groups else None
    stream_scopes = grant.scopes & frozenset(frame_types.REQUIRED_SCOPES.values())
    return Entitlements(stream_scopes, MatchVariant(groups, tenant_id), grant.finished_only)
