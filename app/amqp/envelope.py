"""Everything that is published to tenants: its body, routing key, headers and properties.

    message                what it is made from            key           headers
    live                   rows of the change log          hi.…-         x-seq, x-prev-seq, x-arrived-at
    replayed               a recovery's `MatchMessage`     lo.…<node>    recovery, x-seq
    snapshot_complete      a recovery's request            -.-.-.…       recovery
    alive                  the clock                       -.-.-.…       none

A live message and a replayed one differ in key, headers, ids and `request_id` only: their bodies come from
the same `MatchMessage`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from uuid import UUID

import msgspec

from app.amqp import routing
from app.amqp.frames import AmqpMessage, marshal
from app.domain.fixture_change import FixtureChange
from app.domain.ids import match_urn
from app.domain.market import Market
from app.domain.match import MatchSummary
from app.domain.recovery import RecoveryRequest
from app.domain.settlement import LedgerEntry
from app.kit.logging import get_logger
from app.store.changes import ChangeRow
from app.wire.xml import feed

log = get_logger(__name__)
_decode_summary = msgspec.json.Decoder(MatchSummary).decode
_decode_market = msgspec.json.Decoder(Market).decode
_decode_entry = msgspec.json.Decoder(LedgerEntry).decode
_decode_fixture = msgspec.json.Decoder(FixtureChange).decode


class MatchMessage(msgspec.Struct, frozen=True):
    """What a feed message says about a match: its name, the match's number, its timestamp (ms), and the
    change up to which the match is published with it."""

    name: str
    number: int
    at: int
    seq: int
    status: MatchSummary | None = None
    markets: Sequence[Market] = ()
    entries: Sequence[LedgerEntry] = ()
    change_type: int = 0

    def body(self, product: int, request_id: str | None = None, *, probabilities: bool = False) -> bytes:
        """Its XML, with the model's `probabilities` or without; `request_id` is that of the recovery that
        replays it."""
        match = match_urn(self.number)
        if self.name == "odds_change":
            return feed.odds_change(
                match,
                product,
                self.at,
                self.status,
                self.markets,
                request_id,
                probabilities=probabilities,
            )
        if self.name == "fixture_change":
            return feed.fixture_change(match, product, self.at, self.change_type, request_id)
        return feed.ledger_message(self.name, match, product, self.at, self.entries, request_id)


class DetailedMessage:
    """A message that few tenants receive: rendered when the first of them needs it, then shared."""

    __slots__ = ("_make", "_rendered")

    def __init__(self, make: Callable[[], AmqpMessage]) -> None:
        self._make: Callable[[], AmqpMessage] | None = make
        self._rendered: tuple[AmqpMessage, bytes] | None = None

    def render(self) -> tuple[AmqpMessage, bytes]:
        """The message, and its bytes on the wire."""
        if self._rendered is None:
            assert self._make is not None
            message = self._make()
            self._rendered, self._make = (message, marshal(message)), None
        return self._rendered


class Envelope(msgspec.Struct, frozen=True):
    """A live message, with its place in the change log. `seq` is the highest of its rows' numbers and
    `prev_seq` that of the match's envelope before it; `frames` are its bytes on the wire, none when it could
    not be rendered. `detailed` is the same message with probabilities, for tenants that receive them; None
    where it has none."""

    seq: int
    prev_seq: int
    match_id: UUID
    at: int
    name: str
    message: AmqpMessage
    frames: bytes
    detailed: "DetailedMessage | None" = None


class EnvelopeRenderer(msgspec.Struct, frozen=True):
    """Renders for one exchange and one product."""

    exchange: str
    product: int

    def envelopes(self, rows: Iterable[ChangeRow]) -> Iterator[Envelope]:
        """The envelopes of `rows` (whole groups, in order); rows without a message have none."""
        for _, group in groupby(rows, key=lambda row: row.envelope_seq):
            published = [row for row in group if row.message]
            if published:
                yield self._rendered(published)

    def _rendered(self, rows: Sequence[ChangeRow]) -> Envelope:
        """An envelope that cannot be rendered must not block those after it: it has no frames."""
        try:
            return self.envelope(rows)
        except Exception:
            last = rows[-1]
            log.exception("an envelope cannot be rendered and is skipped", seq=last.envelope_seq)
            return _envelope(last, AmqpMessage("", "", b"", _live_id(last), last.at, {}), b"")

    def envelope(self, rows: Sequence[ChangeRow]) -> Envelope:
        """The envelope of `rows`, which share match, message, timestamp and envelope_seq."""
        last = rows[-1]
        message = self._live(rows, probabilities=False)
        detailed = None
        if any(row.entity == "market" for row in rows):
            detailed = DetailedMessage(lambda: self._live(rows, probabilities=True))
        return _envelope(last, message, marshal(message), detailed)

    def _live(self, rows: Sequence[ChangeRow], *, probabilities: bool) -> AmqpMessage:
        last = rows[-1]
        return AmqpMessage(
            exchange=self.exchange,
            routing_key=routing.live(last.message, last.number),
            body=_match_message(rows).body(self.product, probabilities=probabilities),
            message_id=_live_id(last),
            at=last.at,
            headers=_live_headers(last),
            persistent=last.message not in routing.TRANSIENT,
        )

    def replayed(
        self,
        message: MatchMessage,
        request: RecoveryRequest,
        message_id: str,
        *,
        probabilities: bool = False,
    ) -> AmqpMessage:
        """A message as the recovery `request` replays it."""
        return AmqpMessage(
            exchange=self.exchange,
            routing_key=routing.replayed(message.name, message.number, request.node_id),
            body=message.body(self.product, request.request_id, probabilities=probabilities),
            message_id=message_id,
            at=message.at,
            headers={"recovery": 1, "x-seq": message.seq},
        )

    def snapshot_complete(self, request: RecoveryRequest, at: int, message_id: str) -> AmqpMessage:
        """The end of the recovery `request`, which must reach a queue."""
        return AmqpMessage(
            exchange=self.exchange,
            routing_key=routing.snapshot_complete(request.node_id),
            body=feed.snapshot_complete(self.product, at, request.request_id),
            message_id=message_id,
            at=at,
            headers={"recovery": 1},
            mandatory=True,
        )

    def alive(self, at: int, *, subscribed: bool) -> AmqpMessage:
        """The message `alive`; not `subscribed`: messages may have been lost, and the client must recover."""
        return AmqpMessage(
            exchange=self.exchange,
            routing_key=routing.ALIVE,
            body=feed.alive(self.product, at, subscribed),
            message_id=None,
            at=at,
            headers={},
            persistent=False,
        )


def _envelope(
    last: ChangeRow, message: AmqpMessage, frames: bytes, detailed: DetailedMessage | None = None
) -> Envelope:
    return Envelope(
        seq=last.envelope_seq,
        prev_seq=last.prev_seq,
        match_id=last.match_id,
        at=last.at,
        name=last.message,
        message=message,
        frames=frames,
        detailed=detailed,
    )


def _live_id(row: ChangeRow) -> str:
    return f"mf-{row.envelope_seq}"


def _live_headers(row: ChangeRow) -> dict[str, int | str]:
    """`x-arrived-at`: when we received the log lines behind this, so that a client can measure how long it
    took; absent where no log line is behind it."""
    headers: dict[str, int | str] = {"x-seq": row.envelope_seq, "x-prev-seq": row.prev_seq}
    return headers | {"x-arrived-at": row.arrived_at} if row.arrived_at else headers


def _match_message(rows: Sequence[ChangeRow]) -> MatchMessage:
    row = rows[-1]
    name, number, at, seq = row.message, row.number, row.at, row.envelope_seq
    if name == "odds_change":
        summaries = [_decode_summary(each.body) for each in rows if each.entity == "match"]
        markets = [_decode_market(each.body) for each in rows if each.entity == "market"]
        return MatchMessage(name, number, at, seq, summaries[-1] if summaries else None, markets)
    if name == "fixture_change":
        return MatchMessage(name, number, at, seq, change_type=_decode_fixture(row.body).change_type)
    return MatchMessage(name, number, at, seq, entries=[_decode_entry(each.body) for each in rows])
