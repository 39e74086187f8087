"""Frames as bytes: each made once and shared by all connections that are told it.

`wire` is the frame as it stands on a WebSocket, header included: the same for every client, because what a
server sends is not masked.
"""

from collections.abc import Callable, MutableMapping, Sequence
from hashlib import blake2b
from uuid import UUID

import msgspec
from websockets.frames import Frame as WebSocketFrame
from websockets.frames import Opcode

from app.channels.stream.profile import Profile
from app.channels.stream.telling import Told
from app.domain import frames
from app.kit.clock import iso_millis
from app.wire.views.meta import AliveView, alive_view

_encode = msgspec.json.Encoder().encode
_SAID = {None: b"", True: b',"snapshot":true', False: b',"snapshot":false'}
_PIECE = 65_536  #: bytes
_WHOLE_MATCH = (frames.CREATED, frames.UPDATED, frames.FINISHED)


class Frame(msgspec.Struct, frozen=True):
    """A frame; `entity` names what a newer frame of the same state replaces, None when nothing may."""

    seq: int
    wire: bytes
    entity: str | None = None


class Batch(msgspec.Struct, frozen=True):
    """Frames in order of seq, and all of them as one piece."""

    frames: Sequence[Frame]
    joined: bytes


class MatchData(msgspec.Struct, frozen=True):
    """The match resource as a profile sees it, encoded, and its hash."""

    data: bytes
    digest: str


Look = Callable[[UUID], MatchData | None]  #: a match as it is now; None when it is none of the profile's


def digest(data: bytes) -> str:
    """The content hash of a frame's data."""
    return blake2b(data, digest_size=8).hexdigest()


def wired(
    kind: str, data: bytes, at: int, seq: int, *, hashed: str = "", snapshot: bool | None = None
) -> bytes:
    """A frame on the WebSocket; `at` in Unix ms."""
    meta = b'{"ts":"%b","seq":%d,"hash":"%b"%b}' % (
        iso_millis(at).encode(),
        seq,
        (hashed or digest(data)).encode(),
        _SAID[snapshot],
    )
    text = b'{"type":"%b","data":%b,"meta":%b}' % (kind.encode(), data, meta)
    return bytes(WebSocketFrame(Opcode.TEXT, text).serialize(mask=False))


def alive(now: int, seq: int, *, snapshot: bool | None = None) -> Frame:
    """All that was committed up to `seq` has been sent before."""
    view: AliveView = alive_view(now)
    return Frame(seq, wired(frames.ALIVE, _encode(view), now, seq, snapshot=snapshot), frames.ALIVE)


def render(
    told: Sequence[Told], profile: Profile, look: Look, known: MutableMapping[UUID, str] | None = None
) -> list[Frame]:
    """What a profile is told, in order. `known` are the hashes of the matches as they were told last: one
    that looks the same is not told again."""
    typed = [(one, kind) for one in told if (kind := profile.frame(one.kind, one.frame))]
    last = {one.match_id: one.seq for one, kind in typed if kind in _WHOLE_MATCH}
    rendered: list[Frame] = []
    for one, kind in typed:
        if kind == frames.UPDATED and last[one.match_id] != one.seq:
            continue
        if kind in _WHOLE_MATCH or profile.finished_only:
            match = look(one.match_id)
            if match is None:
                continue
            if kind in _WHOLE_MATCH:
                rendered += _of_match(one, kind, match, known)
                continue
        if one.data is not None:
            one.wire = one.wire or wired(kind, one.data, one.at, one.seq)
            rendered.append(Frame(one.seq, one.wire, one.entity))
    return rendered


def _of_match(
    one: Told, kind: str, match: MatchData, known: MutableMapping[UUID, str] | None
) -> Sequence[Frame]:
    if known is not None:
        if kind == frames.UPDATED and known.get(one.match_id) == match.digest:
            return ()
        known[one.match_id] = match.digest
    wire = wired(kind, match.data, one.at, one.seq, hashed=match.digest)
    return (Frame(one.seq, wire, f"{one.match_id}:match" if kind == frames.UPDATED else None),)


def pieces(rendered: Sequence[Frame]) -> list[bytes]:
    """Frames put together to pieces of some size, for connections to share."""
    made: list[list[bytes]] = [[]]
    size = 0
    for frame in rendered:
        if size > _PIECE:
            made.append([])
            size = 0
        made[-1].append(frame.wire)
        size += len(frame.wire)
    return [b"".join(piece) for piece in made if piece]


def batch(rendered: Sequence[Frame]) -> Batch:
    return Batch(rendered, b"".join([frame.wire for frame in rendered]))
