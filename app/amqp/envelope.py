"""Everything that is published to tenants: its body, routing key, headers and properties.

    message                what it is made from            key           headers
    live                   rows of the change log          hi.…-         x-seq, x-prev-seq, x-arrived-at
    bet_stop               the first of these rows         hi.…-         the same
    replayed               a recovery's `MatchMessage`     lo.…<node>    recovery, x-seq
    snapshot_complete      a recovery's request            -.-.-.…       recovery
    of a replay            rows of the change log          hi.…<node>    as live, x-replay (`amqp.replay`)
    alive                  the clock                       -.-.-.…

All have the header `timestamp_in_ms`. A key has eight sections,
`priority.pre.live.message.sport.urn.id.node`; a match's number and a node's id may also be a placeholder,
as in the AsyncAPI document.

A live message and a replayed one differ in key, headers, ids and `request_id` only: their bodies come from
the same `MatchMessage`. A message of a replay is the live one of then, on an exchange of its own.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from uuid import UUID

import msgspec

from app.amqp.frames import AmqpMessage, marshal
from app.domain.fixture import FixtureChange
from app.domain.ids import SPORT, match_urn
from app.domain.market import Market, market_type
from app.domain.match import MatchSummary
from app.domain.recovery import RecoveryRequest
from app.domain.settlement import LedgerEntry
from app.domain.tenant_offer import STANDARD, OfferRules, TenantOffer
from app.domain.types_off import was_offered
from app.kit.logging import get_logger
from app.store.changes import BET_STOP, PUBLISHED, ChangeRow, decode_tenant_market, tenant_of
from app.trading.registry import RULES
from app.wire.xml import feed

MATCH_MESSAGES = frozenset(
    {
        "odds_change",
        "bet_settlement",
        "bet_cancel",
        "rollback_bet_settlement",
        "rollback_bet_cancel",
        "fixture_change",
    }
)
LIVE_MESSAGES = MATCH_MESSAGES | {BET_STOP}  #: a recovery replays no `bet_stop`: its odds say the same
#: Live messages that a durable queue does not write to disk: a recovery replays the present odds, and the
#: tenant is notified of a broker's restart.
TRANSIENT_MESSAGES = frozenset({"odds_change", BET_STOP})
ALIVE_KEY = "-.-.-.alive.-.-.-.-"
#: The possible values of each section of a live message's key; None: any.
LIVE_SECTIONS = (
    *(frozenset({section}) for section in ("hi", "-", "live")),
    LIVE_MESSAGES,
    *(frozenset({section}) for section in (str(SPORT), "od:match")),
    None,
    frozenset({"-"}),
)
decode_summary = msgspec.json.Decoder(MatchSummary).decode
decode_market = msgspec.json.Decoder(Market).decode
_decode_entry = msgspec.json.Decoder(LedgerEntry).decode
_decode_fixture = msgspec.json.Decoder(FixtureChange).decode
ODDS = "odds_change"
_RESULTS = "bet_settlement"
#: The header that every message has: the timestamp of its XML (Unix ms). The AMQP property `timestamp` has
#: whole seconds, in which several messages may fall; clients of the established feed read this header
#: instead.
TIMESTAMP = "timestamp_in_ms"
_ROW_BYTES = 600  #: what a `ChangeRow` takes beside its body
_OF_MARKET = frozenset({"market", "settlement"}) | PUBLISHED  #: rows about a market
Rendered = tuple[AmqpMessage, bytes]  #: a message, and its bytes on the wire
log = get_logger(__name__)


def live_key(message: str, number: int | str, node_id: str | None = None) -> str:
    """The key of a live message about match `number`, in a replay for the node `node_id`; raises `ValueError`
    if it is not about a match."""
    if message not in LIVE_MESSAGES:
        raise ValueError(f"{message!r} is not a message about a match")
    return f"hi.-.live.{message}.{SPORT}.od:match.{number}.{node_id or '-'}"


def replayed_key(message: str, number: int | str, node_id: str | None) -> str:
    """The key of a replayed message about match `number`; raises `ValueError` like `live_key`."""
    if message not in MATCH_MESSAGES:
        raise ValueError(f"{message!r} is not a message about a match")
    return f"lo.-.live.{message}.{SPORT}.od:match.{number}.{node_id or '-'}"


def snapshot_complete_key(node_id: str | None) -> str:
    """The key of the end of a recovery."""
    return f"-.-.-.snapshot_complete.-.-.-.{node_id or '-'}"


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
        if self.name == ODDS:
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


class MessageVariants:
    """A message as tenants receive it that have more than the standard offer, or another: with probabilities,
    with the odds of a profile, or without the markets of types that are off for them. Each variant is
    rendered when the first of them needs it, then shared. `plain` is what all others receive; `make` makes
    the message with probabilities or without, and by these rules."""

    __slots__ = ("_make", "_rendered", "_rows", "_type_ids")

    def __init__(
        self, plain: Rendered, rows: Sequence[ChangeRow], make: Callable[[bool, OfferRules], AmqpMessage]
    ) -> None:
        self._make, self._rows = make, rows
        self._rendered: dict[Hashable, Rendered] = {(False, STANDARD.key): plain}
        self._type_ids: set[int] | None = None

    def render(self, *, probabilities: bool, rules: OfferRules = STANDARD) -> Rendered:
        """The message for tenants that receive `probabilities`, or not, and for which these rules hold."""
        with_odds = any(row.entity != "settlement" for row in self._rows)
        detailed = probabilities and with_odds
        if not with_odds:
            rules = OfferRules(rules.off)
        concerned = rules.key_for(self._types()) if rules.off else rules.key
        rendered = self._rendered.get((detailed, concerned))
        if rendered is None:
            message = self._make(detailed, rules)
            rendered = self._rendered[detailed, concerned] = message, marshal(message)
        return rendered

    @property
    def memory(self) -> int:
        """About how many bytes of memory the rows take, which are cached to render further variants."""
        return sum([len(row.body) + _ROW_BYTES for row in self._rows])

    def _types(self) -> set[int]:
        if self._type_ids is None:
            of_market = (row for row in self._rows if row.entity in ("market", "settlement"))
            self._type_ids = {market_type(row.key) for row in of_market}
        return self._type_ids


class Envelope(msgspec.Struct, frozen=True):
    """A live message, with its place in the change log. `seq` is the highest of its rows' numbers (that of a
    `bet_stop` its row's) and `prev_seq` that of the match's envelope before it; `frames` are its bytes on the
    wire, none when it could not be rendered. `variants` are the same message for tenants that receive
    probabilities or have an offer of their own; None where it lists no markets. With a `tenant_id` it is for
    that tenant alone.
    `arrived_at`: when the log lines behind it arrived (Unix ms, 0 if none did). `families`: those of the
    markets that a `bet_settlement` has results of."""

    seq: int
    prev_seq: int
    match_id: UUID
    at: int
    name: str
    message: AmqpMessage
    frames: bytes
    variants: MessageVariants | None = None
    tenant_id: UUID | None = None
    arrived_at: int = 0
    families: tuple[str, ...] = ()

    @property
    def memory(self) -> int:
        """About how many bytes of memory it takes: the rows behind it are several times as large as its
        frames."""
        of_rows = self.variants.memory if self.variants else 0
        return len(self.frames) + len(self.message.body) + of_rows

    def rendered_for(self, offer: TenantOffer, *, probabilities: bool) -> Rendered:
        """The message for a tenant with this offer, which receives `probabilities` or not."""
        if self.variants is None:
            return self.message, self.frames
        rules = STANDARD if self.tenant_id else offer.at(self.seq)
        return self.variants.render(probabilities=probabilities, rules=rules)


class EnvelopeRenderer(msgspec.Struct, frozen=True):
    """Renders for one exchange and one product."""

    exchange: str
    product: int

    def envelopes(self, rows: Iterable[ChangeRow]) -> Iterator[Envelope]:
        """The envelopes of `rows` (whole groups, in order); rows without a message have none, but for that
        of a `bet_stop`, which comes before the envelope that it belongs to."""
        for published in published_groups(rows):
            is_stop = published[0].entity == BET_STOP
            yield self._bet_stop(published[0]) if is_stop else self._rendered(published)

    def _rendered(self, rows: Sequence[ChangeRow]) -> Envelope:
        """An envelope that cannot be rendered must not block those after it: it has no frames."""
        try:
            return self.envelope(rows)
        except Exception:
            last = rows[-1]
            log.exception("an envelope cannot be rendered and is skipped", seq=last.envelope_seq)
            return _envelope(last, AmqpMessage("", "", b"", _live_id(last.envelope_seq), last.at, {}), b"")

    def _bet_stop(self, row: ChangeRow) -> Envelope:
        message = AmqpMessage(
            exchange=self.exchange,
            routing_key=live_key(BET_STOP, row.number),
            body=feed.bet_stop(match_urn(row.number), self.product, row.at),
            message_id=_live_id(row.seq),
            at=row.at,
            headers=live_headers(row, row.seq),
            persistent=False,
        )
        envelope = _envelope(row, message, marshal(message))
        return msgspec.structs.replace(envelope, seq=row.seq, name=BET_STOP)

    def envelope(self, rows: Sequence[ChangeRow]) -> Envelope:
        """The envelope of `rows`, which share match, message, timestamp and envelope_seq."""
        last = rows[-1]
        message = self._live(rows, False, STANDARD)
        rendered = message, marshal(message)
        variants = None
        if any(row.entity in _OF_MARKET for row in rows):
            variants = MessageVariants(rendered, rows, lambda *variant: self._live(rows, *variant))
        return _envelope(last, *rendered, variants, _families(rows))

    def _live(self, rows: Sequence[ChangeRow], probabilities: bool, rules: OfferRules) -> AmqpMessage:
        last, content = rows[-1], match_message(rows, rules)
        return AmqpMessage(
            exchange=self.exchange,
            routing_key=live_key(content.name, last.number),
            body=content.body(self.product, probabilities=probabilities),
            message_id=_live_id(last.envelope_seq),
            at=last.at,
            headers=live_headers(last, last.envelope_seq),
            persistent=content.name not in TRANSIENT_MESSAGES,
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
            routing_key=replayed_key(message.name, message.number, request.node_id),
            body=message.body(self.product, request.request_id, probabilities=probabilities),
            message_id=message_id,
            at=message.at,
            headers={TIMESTAMP: message.at, "recovery": 1, "x-seq": message.seq},
        )

    def snapshot_complete(self, request: RecoveryRequest, at: int, message_id: str) -> AmqpMessage:
        """The end of the recovery `request`, which must reach a queue."""
        return AmqpMessage(
            exchange=self.exchange,
            routing_key=snapshot_complete_key(request.node_id),
            body=feed.snapshot_complete(self.product, at, request.request_id),
            message_id=message_id,
            at=at,
            headers={TIMESTAMP: at, "recovery": 1},
            mandatory=True,
        )

    def alive(self, at: int, *, subscribed: bool) -> AmqpMessage:
        """The message `alive`; not `subscribed`: messages may have been lost, and the client must recover."""
        return AmqpMessage(
            exchange=self.exchange,
            routing_key=ALIVE_KEY,
            body=feed.alive(self.product, at, subscribed),
            message_id=None,
            at=at,
            headers={TIMESTAMP: at},
            persistent=False,
        )


def published_groups(rows: Iterable[ChangeRow]) -> Iterator[list[ChangeRow]]:
    """The rows of each envelope of `rows` (whole groups, in order), without those that have no message. That
    of a `bet_stop` comes alone, before those of the envelope that it belongs to."""
    for _, group in groupby(rows, key=lambda row: row.envelope_seq):
        published = []
        for row in group:
            if row.entity == BET_STOP:
                yield [row]
            elif row.message or row.entity in PUBLISHED:
                published.append(row)
        if published:
            yield published


def _families(rows: Sequence[ChangeRow]) -> tuple[str, ...]:
    """The families of the markets whose results these rows publish."""
    types = {market_type(row.key) for row in rows if row.message == _RESULTS and row.entity == "settlement"}
    return tuple(sorted({RULES[each].family for each in types if each in RULES}))


def _envelope(
    last: ChangeRow,
    message: AmqpMessage,
    frames: bytes,
    variants: MessageVariants | None = None,
    families: tuple[str, ...] = (),
) -> Envelope:
    return Envelope(
        seq=last.envelope_seq,
        prev_seq=last.prev_seq,
        match_id=last.match_id,
        at=last.at,
        name=last.message or ODDS,
        message=message,
        frames=frames,
        variants=variants,
        tenant_id=tenant_of(last),
        arrived_at=last.arrived_at,
        families=families,
    )


def _live_id(seq: int) -> str:
    return f"mf-{seq}"


def live_headers(row: ChangeRow, seq: int) -> dict[str, int | str]:
    """`x-arrived-at`: when we received the log lines behind this, so that a client can measure how long it
    took; absent where no log line is behind it."""
    headers: dict[str, int | str] = {
        TIMESTAMP: row.at,
        "x-seq": seq,
        "x-prev-seq": row.prev_seq,
    }
    return headers | {"x-arrived-at": row.arrived_at} if row.arrived_at else headers


def match_message(rows: Sequence[ChangeRow], rules: OfferRules) -> MatchMessage:
    """The message of these rows for a tenant for which these rules hold. Where nothing is left it is an
    `odds_change` without markets, so that its `x-seq` follows the one before."""
    row = rows[-1]
    name, number, at, seq = row.message or ODDS, row.number, row.at, row.envelope_seq
    if name == ODDS:
        summaries = [decode_summary(each.body) for each in rows if each.entity == "match"]
        markets = [market for each in rows if (market := _changed_market(each, rules))]
        return MatchMessage(name, number, at, seq, summaries[-1] if summaries else None, markets)
    if name == "fixture_change":
        return MatchMessage(name, number, at, seq, change_type=_decode_fixture(row.body).change_type)
    entries = [_decode_entry(each.body) for each in rows]
    left = [one for one in entries if was_offered(rules.off, one.type_id, one.first_opened_at)]
    return MatchMessage(name if left else ODDS, number, at, seq, entries=left)


def _changed_market(row: ChangeRow, rules: OfferRules) -> Market | None:
    if row.entity in PUBLISHED:
        return decode_tenant_market(row.body)
    if row.entity != "market":
        return None
    return rules.changed_market(decode_market(row.body), row.frame)
