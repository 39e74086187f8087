"""What a connection may be told; connections with equal profiles are told the same bytes."""

from uuid import UUID

import msgspec

from app.domain import frames, scopes
from app.domain.tenant import Grant
from app.wire import fields
from app.wire.fields import Group, Groups

#: The field group of the match resource that shows what changed, by kind of entity.
SHOWN: dict[str, Group] = {
    "event": Group.DETAIL,
    "round": Group.DETAIL,
    "market": Group.MARKETS,
    "scoreboard": Group.SCOREBOARD,
}


class Variant(msgspec.Struct, frozen=True):
    """What decides how a match looks. `tenant_id` only where the tenant's own bookings are shown."""

    groups: Groups
    tenant_id: UUID | None


class Profile(msgspec.Struct, frozen=True):
    """The stream scopes that a key has, how matches look to it, and whether it sees finished ones only."""

    streams: frozenset[str]
    variant: Variant
    finished_only: bool

    def frame(self, kind: str, frame: str) -> str:
        """The type of the frame that tells this profile of a change of an entity of this `kind` whose own
        frame is `frame` ("": none); "" when nothing does.

        What the key sees in the match resource and gets no frame of its own for is told by `match.updated`.
        """
        if frame and frames.NEEDS[frame] in self.streams:
            return frame
        if scopes.STREAM_MATCHES in self.streams and SHOWN.get(kind) in self.variant.groups:
            return frames.UPDATED
        return ""

    def told_by_match(self, kind: str) -> bool:
        """Whether a snapshot tells this kind of entity in the match frame, and nowhere else."""
        if kind == "match":
            return True
        elsewhere = kind == "market" and scopes.STREAM_MARKETS in self.streams
        return SHOWN.get(kind) in self.variant.groups and not elsewhere


def profile(grant: Grant) -> Profile:
    groups = fields.groups(grant.scopes)
    tenant_id = grant.tenant.id if Group.INTERNALS in groups else None
    streams = grant.scopes & frozenset(frames.NEEDS.values())
    return Profile(streams, Variant(groups, tenant_id), grant.finished_only)
