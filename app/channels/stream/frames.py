"""What a connection may receive, and its frames as bytes: each is encoded once and shared by all connections
that are sent it, those whose keys have equal entitlements.

`wire` is the WebSocket frame with its header. It is the same for every client, because a server does not
mask what it sends.
"""

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from hashlib import blake2b
from uuid import UUID

import msgspec
from websockets.frames import Frame as WebSocketFrame
from websockets.frames import Opcode

from app.channels.stream.updates import Update, market_data
from app.domain import frame_types, scopes
from app.domain.market import Market, MarketStatus
from app.domain.profiles import Profile
from app.domain.tenant import Grant
from app.domain.tenant_offer import STANDARD, OfferRules, TenantOffer
from app.domain.types_off import entry_offered
from app.kit.clock import iso_millis
from app.store.changes import CLAIM
from app.wire import fields
from app.wire.fields import Group, Groups
from app.wire.views.meta import AliveView, alive_view

_encode = msgspec.json.Encoder().encode
_SNAPSHOT_FIELD = {None: b"", True: b',"snapshot":true', False: b',"snapshot":false'}
_CHUNK = 65_536  #: bytes
_PARTS_OF_MATCH = ("round", "event")  #: what clients put into the match that they were sent
_WHOLE_MATCH = (frame_types.CREATED, frame_types.UPDATED, frame_types.FINISHED)
#: The field group of the match resource that shows a change, by kind of entity.
GROUP_OF: dict[str, Group] = {
    "event": Group.DETAIL,
    "round": Group.DETAIL,
    "market": Group.MARKETS,
    "scoreboard": Group.SCOREBOARD,
}


class MatchVariant(msgspec.Struct, frozen=True):
    """What decides how the match resource looks. `tenant_id` is set only where it shows the tenant's own
    bookings; where it shows markets, `off` are the types that are off, each with the time of `OffTypes`, and
    `profile` is that of the odds."""

    groups: Groups
    tenant_id: UUID | None
    off: tuple[tuple[int, int], ...] = ()
    profile: Profile | None = None

    @property
    def rules(self) -> OfferRules:
        """By which its markets are shown."""
        return OfferRules(dict(self.off), self.profile)


class OwnOffer(msgspec.Struct, frozen=True):
    """A tenant whose offer is or was another than the standard one."""

    tenant_id: UUID
    offer: TenantOffer


class Entitlements(msgspec.Struct, frozen=True):
    """The stream scopes of a key, how matches look to it, and whether it sees finished ones only. `own` is
    set for tenants with an offer of their own: all others share what is rendered."""

    stream_scopes: frozenset[str]
    variant: MatchVariant
    finished_only: bool
    own: OwnOffer | None = None

    def with_offer(self, tenant_id: UUID, offer: TenantOffer) -> "Entitlements":
        """The same for a tenant with this offer."""
        rules = offer.now if Group.MARKETS in self.variant.groups else STANDARD
        off = tuple(sorted(rules.off.items()))
        variant = msgspec.structs.replace(self.variant, off=off, profile=rules.profile)
        own = OwnOffer(tenant_id, offer) if offer else None
        return msgspec.structs.replace(self, variant=variant, own=own)

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


def offered(updates: Sequence[Update], own: OwnOffer | None, *, resuming: bool = False) -> Iterator[Update]:
    """The updates as this tenant is sent them, or all tenants with the standard offer (None): without those
    of another tenant alone, without what types that were off hide, and, unless a client resumes, without
    those that show it nothing new. Claims are omitted: `claims` adds them, since tenants share the rest."""
    if own is None:
        return (one for one in updates if one.tenant_id is None and (resuming or not one.same_odds))
    return (seen for one in updates if (seen := _offered(one, own, resuming)))


def _offered(update: Update, own: OwnOffer, resuming: bool) -> Update | None:
    if update.tenant_id is not None:
        return update if update.tenant_id == own.tenant_id and update.kind != CLAIM else None
    if update.about is None:
        return update
    if not isinstance(update.about, Market):
        return update if entry_offered(update.about, own.offer.types_off) else None
    rules = own.offer.at(update.seq)
    if not resuming and (update.same or (rules.profile is None and update.same_odds)):
        return None
    key = rules.key_for((update.about.type_id,))
    if key not in update.variants:
        update.variants[key] = _by_rules(update, update.about, rules)
    return update.variants[key]


def _by_rules(update: Update, market: Market, rules: OfferRules) -> Update | None:
    """The update about a market by these rules; None: it is not sent."""
    shown = rules.changed_market(market, update.frame)
    if shown is None or shown is market:
        return update if shown else None
    off = market.type_id in rules.off
    stopped = shown.status is MarketStatus.SUSPENDED and (off or market.status is MarketStatus.ACTIVE)
    frame = frame_types.MARKET_SUSPENDED if stopped else update.frame
    data = market_data(update.match_id, shown) if update.frame else None
    return msgspec.structs.replace(update, frame=frame, data=data, wire=b"", about=shown, variants={})


class Frame(msgspec.Struct, frozen=True):
    """An encoded frame. A newer one with the same `conflation_key` replaces it; None: none does."""

    seq: int
    wire: bytes
    conflation_key: str | None = None


class FrameBatch(msgspec.Struct, frozen=True):
    """Frames in order of seq, and all of them joined."""

    frames: Sequence[Frame]
    joined: bytes


class RenderedMatch(msgspec.Struct, frozen=True):
    """The match resource of one variant, encoded, and its content hash."""

    data: bytes
    hash: str


MatchLookup = Callable[[UUID], RenderedMatch | None]  #: the match now; None when the key may not see it


def content_hash(data: bytes) -> str:
    """The hash of a frame's data."""
    return blake2b(data, digest_size=8).hexdigest()


def encode_frame(
    kind: str, data: bytes, at: int, seq: int, *, hashed: str = "", snapshot: bool | None = None
) -> bytes:
    """A WebSocket frame; `at` in Unix ms."""
    meta = b'{"ts":"%b","seq":%d,"hash":"%b"%b}' % (
        iso_millis(at).encode(),
        seq,
        (hashed or content_hash(data)).encode(),
        _SNAPSHOT_FIELD[snapshot],
    )
    text = b'{"type":"%b","data":%b,"meta":%b}' % (kind.encode(), data, meta)
    return bytes(WebSocketFrame(Opcode.TEXT, text).serialize(mask=False))


def alive_frame(now: int, seq: int, *, snapshot: bool | None = None) -> Frame:
    """States that everything committed up to `seq` has been sent before."""
    view: AliveView = alive_view(now)
    return Frame(
        seq, encode_frame(frame_types.ALIVE, _encode(view), now, seq, snapshot=snapshot), frame_types.ALIVE
    )


def render(
    updates: Sequence[Update],
    entitlements: Entitlements,
    lookup: MatchLookup,
    sent: MutableMapping[UUID, str] | None = None,
    *,
    resuming: bool = False,
) -> list[Frame]:
    """The frames of these updates for these entitlements, in order. `resuming`: for a client that may lack
    what any of them shows, even where it is the same as before. `sent` has the hash of each match as it
    was sent last: one that looks the same is not sent again, unless its client has put a round or an event
    into it since, which may be void by now."""
    sent_to = offered(updates, entitlements.own, resuming=resuming)
    typed = [(one, kind) for one in sent_to if (kind := entitlements.frame_type(one.kind, one.frame))]
    last = {one.match_id: one.seq for one, kind in typed if kind in _WHOLE_MATCH}
    internal = Group.INTERNALS in entitlements.variant.groups
    rendered: list[Frame] = []
    for one, kind in typed:
        if kind == frame_types.UPDATED and last[one.match_id] != one.seq:
            continue
        if kind in _WHOLE_MATCH or entitlements.finished_only:
            match = lookup(one.match_id)
            if match is None:
                continue
            if kind in _WHOLE_MATCH:
                rendered += _match_frame(one, kind, match, sent)
                continue
        if one.data is not None:
            rendered.append(Frame(one.seq, _wire(one, kind, one.data, internal), one.conflation_key))
            if sent is not None and one.kind in _PARTS_OF_MATCH:
                sent.pop(one.match_id, None)
    return rendered


def _wire(update: Update, kind: str, data: bytes, internal: bool) -> bytes:
    """The encoded frame of an update that is not a match."""
    if internal and update.internal_data is not None:
        update.internal_wire = update.internal_wire or encode_frame(
            kind, update.internal_data(), update.at, update.seq
        )
        return update.internal_wire
    update.wire = update.wire or encode_frame(kind, data, update.at, update.seq)
    return update.wire


def _match_frame(
    update: Update, kind: str, match: RenderedMatch, sent: MutableMapping[UUID, str] | None
) -> Sequence[Frame]:
    if sent is not None:
        if kind == frame_types.UPDATED and sent.get(update.match_id) == match.hash:
            return ()
        sent[update.match_id] = match.hash
    wire = encode_frame(kind, match.data, update.at, update.seq, hashed=match.hash)
    return (Frame(update.seq, wire, f"{update.match_id}:match" if kind == frame_types.UPDATED else None),)


def join_chunks(rendered: Sequence[Frame]) -> list[bytes]:
    """Frames joined to chunks of about `_CHUNK` bytes, for connections to share."""
    chunks: list[list[bytes]] = [[]]
    size = 0
    for frame in rendered:
        if size > _CHUNK:
            chunks.append([])
            size = 0
        chunks[-1].append(frame.wire)
        size += len(frame.wire)
    return [b"".join(chunk) for chunk in chunks if chunk]


def join_batch(rendered: Sequence[Frame]) -> FrameBatch:
    return FrameBatch(rendered, b"".join([frame.wire for frame in rendered]))
