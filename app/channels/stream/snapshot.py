"""The snapshot that a client begins with: live matches as `match.updated`, and their open markets as
`market.updated`.

A frame's seq is that of the newest change shown by this frame alone; if that is pruned, the seq of the
match's last envelope, which is as new or newer. A client that has received everything up to some seq learns
nothing new from frames with that seq or a lower one.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from app.channels.stream.frames import Entitlements, Frame, MatchLookup, OwnOffer, encode_frame
from app.channels.stream.updates import MatchState
from app.domain import frame_types, scopes
from app.domain.market import MarketKey, market_name
from app.domain.tenant_offer import NO_CHANGES
from app.wire.views.frames import market_frame

_encode = msgspec.json.Encoder().encode
#: In the order of a match's frames, the place of the match: before all markets.
_MATCH_ITSELF: MarketKey = (0, "")
Position = tuple[int, MarketKey]  #: the match's number, and which of its frames


class SnapshotPlace(NamedTuple):
    """A place in a snapshot that is sent in parts: after the frame of this market (or of the match itself) of
    the match with this number. `seq`: up to where the change log was shown by the first part."""

    seq: int
    number: int
    market: MarketKey


def snapshot_frames(
    states: Iterable[MatchState], entitlements: Entitlements, lookup: MatchLookup, now: int, *, all_live: bool
) -> list[Frame]:
    """The whole snapshot, in order of seq; of matches only live ones, with `all_live`."""
    placed = ordered_snapshot(states, entitlements, lookup, now, all_live=all_live)
    return sorted((frame for _, frame in placed), key=lambda frame: frame.seq)


def ordered_snapshot(
    states: Iterable[MatchState],
    entitlements: Entitlements,
    lookup: MatchLookup,
    now: int,
    *,
    all_live: bool,
    after: SnapshotPlace | None = None,
) -> Iterator[tuple[Position, Frame]]:
    """The snapshot, or what follows `after` of it, in an order that no change alters: by match, the match
    before its markets. What is behind a place stays behind it."""
    first = (after.number, after.market) if after else (0, _MATCH_ITSELF)
    for state in sorted(states, key=lambda state: state.match.number):
        number = state.match.number
        if number < first[0]:
            continue
        if after is None or number > after.number:
            for frame in _match(state, entitlements, lookup, now, all_live):
                yield (number, _MATCH_ITSELF), frame
        if scopes.STREAM_MARKETS in entitlements.stream_scopes and (
            state.finished or not entitlements.finished_only
        ):
            begin = first[1] if number == first[0] else _MATCH_ITSELF
            for key, frame in _markets(state, entitlements.own, now, begin):
                yield (number, key), frame


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
    if entitlements.own and entitlements.shown_by_match("market"):
        seq = max(seq, entitlements.own.offer.last_change())
    wire = encode_frame(frame_types.UPDATED, match.data, now, seq, hashed=match.hash, snapshot=True)
    yield Frame(seq, wire)


def _markets(
    state: MatchState, own: OwnOffer | None, now: int, after: MarketKey
) -> Iterator[tuple[MarketKey, Frame]]:
    offer = own.offer if own else NO_CHANGES
    rules = offer.now
    for key in sorted(one for one in state.markets if one > after):
        market = state.markets[key]
        shown = rules.market_in_list(market)
        if shown is None:
            continue
        seq = state.market_seqs.get(market_name(*market.key), state.match.last_seq)
        if offer:
            seq = max(seq, offer.last_change(market.type_id))
        data = _encode(market_frame(state.id, shown))
        yield key, Frame(seq, encode_frame(frame_types.MARKET_UPDATED, data, now, seq, snapshot=True))
