"""What a connection may receive; connections with equal entitlements are sent the same bytes."""

from uuid import UUID

import msgspec

from app.domain import frame_types, scopes
from app.domain.tenant import Grant
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
    bookings."""

    groups: Groups
    tenant_id: UUID | None


class Entitlements(msgspec.Struct, frozen=True):
    """The stream scopes of a key, how matches look to it, and whether it sees finished ones only."""

    stream_scopes: frozenset[str]
    variant: MatchVariant
    finished_only: bool

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
