"""The snapshot that a connection begins with; pure."""

from collections.abc import Iterable, Iterator

import msgspec

from app.channels.stream.frames import Frame, Look, wired
from app.channels.stream.profile import Profile
from app.channels.stream.standing import Standing
from app.domain import frames, scopes
from app.domain.market import offer_name
from app.wire.views.frames import market_frame

_encode = msgspec.json.Encoder().encode


def opening(
    standings: Iterable[Standing], profile: Profile, look: Look, now: int, *, all_live: bool
) -> list[Frame]:
    """Matches as `match.updated` (live ones only, with `all_live`) and what is on offer on any of them as
    `market.updated`, in order of seq.

    A frame's seq is that of the newest change that it shows and no other frame of the snapshot does; where
    that change is not kept any more, of the match's newest envelope, which is as new or newer.
    Whoever has been told everything up to some number knows all that is numbered no higher.
    """
    shown: list[Frame] = []
    for standing in standings:
        shown += _match(standing, profile, look, now, all_live)
        if scopes.STREAM_MARKETS in profile.streams and (standing.finished or not profile.finished_only):
            shown += _markets(standing, now)
    return sorted(shown, key=lambda frame: frame.seq)


def _match(standing: Standing, profile: Profile, look: Look, now: int, all_live: bool) -> Iterator[Frame]:
    if scopes.STREAM_MATCHES not in profile.streams or (all_live and not standing.live):
        return
    seen = look(standing.id)
    if seen is None:
        return
    seq = max((seq for kind, seq in standing.seqs.items() if profile.told_by_match(kind)), default=0)
    seq = seq or standing.match.last_seq
    wire = wired(frames.UPDATED, seen.data, now, seq, hashed=seen.digest, snapshot=True)
    yield Frame(seq, wire)


def _markets(standing: Standing, now: int) -> Iterator[Frame]:
    for market in standing.markets.values():
        seq = standing.market_seqs.get(offer_name(*market.key), standing.match.last_seq)
        data = _encode(market_frame(standing.id, market))
        yield Frame(seq, wired(frames.MARKET_UPDATED, data, now, seq, snapshot=True))
