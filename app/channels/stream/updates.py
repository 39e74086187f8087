"""From rows of the change log to the updates that are sent, still the same for every client, and what they
alter: one match at one seq of the log. Pure.

Every round, event and settlement is an update of its own. States are conflated: of several `market.updated`,
`scoreboard.frame` or `match.updated` of one entity only the newest is sent, and none that shows nothing new.
"""

from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from uuid import UUID

import msgspec

from app.domain import frame_types
from app.domain.changes import RoundLive
from app.domain.claims import ClaimChange
from app.domain.entrants import NO_LOGOS, TeamLogos
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Round, Status, TimelineEvent
from app.domain.match_info import VideoStream
from app.domain.settlement import LedgerEntry
from app.domain.tenant_offer import STANDARD, OfferRules
from app.store.changes import CLAIM, TENANT_MARKET, ChangeRow, decode_tenant_market, tenant_of
from app.wire.views.claims import claim_view
from app.wire.views.frames import RoundStarted, event_frame, market_frame, round_frame, scoreboard_frame
from app.wire.views.match import MatchParts
from app.wire.views.offers import market_view, settlement_view

_encode = msgspec.json.Encoder().encode
_decode_market = msgspec.json.Decoder(Market).decode
_decode_round = msgspec.json.Decoder(Round).decode
_decode_event = msgspec.json.Decoder(TimelineEvent).decode
_decode_entry = msgspec.json.Decoder(LedgerEntry).decode
_decode_claim = msgspec.json.Decoder(ClaimChange).decode
_decode_round_live = msgspec.json.Decoder(RoundLive).decode
_versions = count()


class MatchState:
    """A match with its rounds, events and open markets (active or suspended). `seqs` has the newest seq of
    each kind of entity, `market_seqs` that of each market. `version` is a new one after every change, unique
    among all states."""

    def __init__(
        self,
        match: Match,
        rounds: Iterable[Round],
        events: Iterable[TimelineEvent],
        markets: Iterable[Market],
        seqs: Mapping[str, int],
        market_seqs: Mapping[str, int],
        logos: TeamLogos = NO_LOGOS,
    ) -> None:
        self.match = match
        self.logos = logos
        self.replace_history(rounds, events)
        self.markets = {market.key: market for market in markets}
        self.seqs = dict(seqs)
        self.market_seqs = dict(market_seqs)
        self.version = next(_versions)

    @property
    def id(self) -> UUID:
        return self.match.id

    @property
    def live(self) -> bool:
        return self.match.status is Status.LIVE

    @property
    def finished(self) -> bool:
        return self.match.status is Status.FINISHED

    @property
    def relevant(self) -> bool:
        """Live, or with an open market: a snapshot shows something of it."""
        return self.live or bool(self.markets)

    def parts(self, booked: bool, rules: OfferRules = STANDARD) -> MatchParts:
        """What the match resource is made of, in the order of REST, by these rules."""
        present = [self.markets[key] for key in sorted(self.markets)]
        return MatchParts(
            self.match,
            rounds=[self.rounds[key] for key in sorted(self.rounds)],
            events=[self.events[key] for key in sorted(self.events)],
            markets=rules.markets_in_list(present),
            booked=booked,
            logos=self.logos,
        )

    def replace_history(self, rounds: Iterable[Round], events: Iterable[TimelineEvent]) -> None:
        """Set its rounds and events to those read from the database."""
        self.version = next(_versions)
        self.rounds = {played.id: played for played in rounds}
        self.events = {event.id: event for event in events}

    def replace_match(self, match: Match, logos: TeamLogos = NO_LOGOS) -> None:
        """Set the match and its teams' logos to those read from the database."""
        self.version = next(_versions)
        self.match = match
        self.logos = logos

    def apply(self, row: ChangeRow) -> None:
        """Apply a change of anything but the match itself, which is read from the database."""
        self.version = next(_versions)
        if row.entity == "market":
            market = _decode_market(row.body)
            self.market_seqs[row.key] = row.seq
            if market.open:
                self.markets[market.key] = market
            else:
                self.markets.pop(market.key, None)
        elif row.entity == "event":
            event = _decode_event(row.body)
            self.events[event.id] = event
        elif row.entity == "round" and row.frame != "round.started":
            played = _decode_round(row.body)
            self.rounds[played.id] = played
        if row.frame or row.entity != "match":
            self.seqs[row.entity if row.frame else "match"] = row.seq


MatchStates = Mapping[UUID, MatchState]


class Update(msgspec.Struct):
    """One change, as far as it is the same for every client: `kind` of entity and its own `frame` ("": none).
    With a `tenant_id` it is for that tenant alone. `about` is the market or the ledger entry in it.

    `data` is that of the frame, encoded; None where it is the match, which looks different to each variant.
    A state is replaced by a newer one with the same `conflation_key`; None: never replaced. `wire` caches the
    encoded frame. `internal_data` encodes it for keys that see internals, where those see more: on first use,
    since few such keys follow matches; `internal_wire` caches its frame. `same`: nothing has changed that any
    client sees, and `same_odds`: for tenants with the standard odds. Such an update is sent to clients that
    resume alone: what it is the same as may have been left out of what another process sent them, because
    there this update replaced it. `variants` caches the update by the rules of other tenants.
    """

    seq: int
    at: int
    match_id: UUID
    kind: str
    frame: str
    data: bytes | None = None
    conflation_key: str | None = None
    wire: bytes = b""
    tenant_id: UUID | None = None
    about: Market | LedgerEntry | None = None
    internal_data: Callable[[], bytes] | None = None
    internal_wire: bytes = b""
    same: bool = False
    same_odds: bool = False
    variants: dict[Hashable, "Update | None"] = {}


def apply_changes(
    rows: Sequence[ChangeRow], states: MatchStates, fresh: Container[UUID] = ()
) -> list[Update]:
    """Apply `rows` to `states` and return the updates, in order. The states of the matches in `fresh` were
    read after the rows, so that for them it is unknown which rows show something new."""
    updates: list[Update] = []
    for row in rows:
        state = states.get(row.match_id)
        before = _market_before(row, state) if row.match_id not in fresh else None
        if state and row.entity not in (TENANT_MARKET, CLAIM):
            state.apply(row)
        update = _update(row, state)
        if update is not None:
            _compare(update, before)
            updates.append(update)
    return conflate(updates)


def _market_before(row: ChangeRow, state: MatchState | None) -> Market | None:
    if state is None or row.frame != frame_types.MARKET_UPDATED:
        return None
    return state.markets.get(_decode_market(row.body).key)


def past_updates(rows: Sequence[ChangeRow], states: MatchStates) -> list[Update]:
    """The updates of rows that are already applied to `states`."""
    return conflate([one for row in rows if (one := _update(row, states.get(row.match_id)))])


_REPLACEABLE = (frame_types.MARKET_UPDATED, frame_types.SCOREBOARD)


def conflate(updates: Sequence[Update]) -> list[Update]:
    """Without the states that a later update with the same key replaces; it then shows what they have
    changed."""
    last = {one.conflation_key: one for one in updates}
    left: list[Update] = []
    for one in updates:
        newest = last[one.conflation_key]
        if newest is one or one.frame not in _REPLACEABLE:
            left.append(one)
        else:
            newest.same = newest.same and one.same
            newest.same_odds = newest.same_odds and one.same_odds
    return left


def _compare(update: Update, before: Market | None) -> None:
    """Note in the update whether only fields of the market have changed that no client sees."""
    if before is None or not isinstance(update.about, Market):
        return
    update.same_odds = market_view(before) == market_view(update.about)
    update.same = update.same_odds and _made_of(before) == _made_of(update.about)


def _made_of(market: Market) -> tuple[object, ...]:
    """What a profile makes odds of."""
    return market.probability, market.phase, market.group_size, market.margin_factor


def _update(row: ChangeRow, state: MatchState | None) -> Update | None:
    if row.entity == "match" and not row.frame:
        return None
    if row.entity == TENANT_MARKET:
        return _tenant_update(row)
    if row.entity == CLAIM:
        return _claim_update(row)
    update = Update(row.seq, row.at, row.match_id, row.entity, row.frame)
    if row.entity == "market":
        update.conflation_key = f"{row.match_id}:{row.key}"
        update.about = _decode_market(row.body)
        update.data = market_data(row.match_id, update.about) if row.frame else None
    elif row.entity == "settlement":
        update.about = entry = _decode_entry(row.body)
        update.data = _encode(settlement_view(row.match_id, row.number, entry)) if row.frame else None
    elif row.entity == "scoreboard":
        update.conflation_key = f"{row.match_id}:scoreboard"
        update.data = _encode(scoreboard_frame(state.match)) if state else None
    elif row.entity == "event" and row.frame:
        event, streams = _decode_event(row.body), state.match.info.streams if state else ()
        update.data = _event(row.match_id, event, streams)
        update.internal_data = partial(_event, row.match_id, event, streams, internal=True)
    elif row.entity == "round" and row.frame:
        update.data = _encode(_round(row))
    return update


def _event(
    match_id: UUID, event: TimelineEvent, streams: Sequence[VideoStream], *, internal: bool = False
) -> bytes:
    return _encode(event_frame(match_id, event, streams, internal=internal))


def _tenant_update(row: ChangeRow) -> Update:
    """A market as one tenant sees it since a market type was switched. Its key begins with the tenant, so
    that it replaces no state that others are sent."""
    market = decode_tenant_market(row.body)
    frame = (
        frame_types.MARKET_UPDATED if market.status is MarketStatus.ACTIVE else frame_types.MARKET_SUSPENDED
    )
    data, key = market_data(row.match_id, market), f"{row.match_id}:{row.key}"
    return Update(
        row.seq, row.at, row.match_id, "market", frame, data, key, tenant_id=tenant_of(row), about=market
    )


def _claim_update(row: ChangeRow) -> Update:
    """A step of a tenant's claim."""
    change = _decode_claim(row.body)
    data = _encode(claim_view(change.claim))
    return Update(row.seq, row.at, row.match_id, CLAIM, change.step.frame, data, tenant_id=tenant_of(row))


def market_data(match_id: UUID, market: Market) -> bytes:
    """The data of a market's frame."""
    return _encode(market_frame(match_id, market))


def _round(row: ChangeRow) -> object:
    if row.frame == "round.started":
        live = _decode_round_live(row.body)
        return RoundStarted(str(row.match_id), live.map, live.round)
    return round_frame(row.match_id, _decode_round(row.body))
