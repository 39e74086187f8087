"""The snapshot that a connection begins with; pure."""

from collections.abc import Iterable, Iterator

import msgspec

from app.channels.stream.entitlements import Entitlements, TenantTypes
from app.channels.stream.frames import Frame, MatchLookup, encode_frame
from app.channels.stream.match_state import MatchState
from app.domain import frame_types, scopes
from app.domain.market import market_name
from app.domain.types_off import last_switch, market_in_list, off_now
from app.wire.views.frames import market_frame

_encode = msgspec.json.Encoder().encode


def snapshot_frames(
    states: Iterable[MatchState], entitlements: Entitlements, lookup: MatchLookup, now: int, *, all_live: bool
) -> list[Frame]:
    """Matches as `match.updated` (only live ones, with `all_live`) and their open markets as
    `market.updated`, in order of seq.

    A frame's seq is that of the newest change shown by this frame alone; if that is pruned, the seq of the
    match's last envelope, which is as new or newer. A client that has received everything up to some seq
    learns nothing new from frames with that seq or a lower one.
    """
    found: list[Frame] = []
    for state in states:
        found += _match(state, entitlements, lookup, now, all_live)
        if scopes.STREAM_MARKETS in entitlements.stream_scopes and (
            state.finished or not entitlements.finished_only
        ):
            found += _markets(state, entitlements.types, now)
    return sorted(found, key=lambda frame: frame.seq)


def _match(
    state: MatchState, entitlements: Entitlements, lookup: MatchLookup, now: int, all_live: bool
) -> Iterator[Frame]:
    if scopes.STREAM_MATCHES not in entitlements.stream_scopes or (all_live and not state.live):
        return
    match = lookup(state.id)
    if match is None:
        return
    seq = max((seq for kind, seq in state.seqs.items() if entitlements.shown_by_match(kind)), default=0)
    seq = seq or state.match.last_seq
    if entitlements.types and entitlements.shown_by_match("market"):
        seq = max(seq, last_switch(entitlements.types.intervals))
    wire = encode_frame(frame_types.UPDATED, match.data, now, seq, hashed=match.hash, snapshot=True)
    yield Frame(seq, wire)


def _markets(state: MatchState, types: TenantTypes | None, now: int) -> Iterator[Frame]:
    intervals = types.intervals if types else ()
    off = off_now(intervals)
    for market in state.markets.values():
        shown = market_in_list(market, off)
        if shown is None:
            continue
        seq = state.market_seqs.get(market_name(*market.key), state.match.last_seq)
        if intervals:
            seq = max(seq, last_switch(intervals, market.type_id))
        data = _encode(market_frame(state.id, shown))
        yield Frame(seq, encode_frame(frame_types.MARKET_UPDATED, data, now, seq, snapshot=True))
