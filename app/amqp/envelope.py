"""From rows of the change log to envelopes that are ready to be written."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from uuid import UUID

import msgspec

from app.amqp import routing
from app.amqp.frames import Message, marshal
from app.domain.fixture_change import FixtureChange
from app.domain.ids import match_urn
from app.domain.market import Market
from app.domain.match import MatchSummary
from app.domain.settlement import LedgerEntry
from app.kit.logging import get_logger
from app.store.changes import ChangeRow
from app.wire.envelopes import feed

log = get_logger(__name__)
_summary = msgspec.json.Decoder(MatchSummary).decode
_market = msgspec.json.Decoder(Market).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode
_fixture = msgspec.json.Decoder(FixtureChange).decode


class Envelope(msgspec.Struct, frozen=True):
    """One feed message. `seq` is the highest of its rows' numbers and `prev_seq` that of the match's
    envelope before it; `frames` are its bytes on the wire, none when its rows cannot be told."""

    seq: int
    prev_seq: int
    match_id: UUID
    at: int
    name: str
    message: Message
    frames: bytes


class Press(msgspec.Struct, frozen=True):
    """Makes envelopes for one exchange and one product."""

    exchange: str
    product: int

    def envelopes(self, rows: Iterable[ChangeRow]) -> Iterator[Envelope]:
        """The envelopes that `rows` (whole groups, in order) make up; rows without message make none."""
        for _, group in groupby(rows, key=lambda row: row.envelope_seq):
            told = [row for row in group if row.message]
            if told:
                yield self._made(told)

    def _made(self, rows: Sequence[ChangeRow]) -> Envelope:
        """Rows that cannot be told must not keep everything after them from every tenant."""
        try:
            return self.envelope(rows)
        except Exception:
            last = rows[-1]
            log.exception("an envelope cannot be made; it is left out", seq=last.envelope_seq)
            nothing = Message("", "", b"", f"mf-{last.envelope_seq}", last.at, {})
            return Envelope(
                seq=last.envelope_seq,
                prev_seq=last.prev_seq,
                match_id=last.match_id,
                at=last.at,
                name=last.message,
                message=nothing,
                frames=b"",
            )

    def envelope(self, rows: Sequence[ChangeRow]) -> Envelope:
        """One envelope of all `rows`, which share match, message, stamp and envelope_seq."""
        last = rows[-1]
        message = Message(
            exchange=self.exchange,
            routing_key=routing.live(last.message, last.number),
            body=_body(self.product, rows),
            message_id=f"mf-{last.envelope_seq}",
            at=last.at,
            headers=_headers(last),
        )
        return Envelope(
            seq=last.envelope_seq,
            prev_seq=last.prev_seq,
            match_id=last.match_id,
            at=last.at,
            name=last.message,
            message=message,
            frames=marshal(message),
        )


def _headers(row: ChangeRow) -> dict[str, int | str]:
    """`x-arrived-at`: when the log lines behind this came to us, so that a client can tell how long that
    took; absent where no log line is behind it."""
    headers: dict[str, int | str] = {"x-seq": row.envelope_seq, "x-prev-seq": row.prev_seq}
    return headers | {"x-arrived-at": row.arrived_at} if row.arrived_at else headers


def _body(product: int, rows: Sequence[ChangeRow]) -> bytes:
    row = rows[-1]
    match = match_urn(row.number)
    if row.message == "odds_change":
        heads = [_summary(each.body) for each in rows if each.entity == "match"]
        markets = [_market(each.body) for each in rows if each.entity == "market"]
        return feed.odds_change(match, product, row.at, heads[-1] if heads else None, markets)
    if row.message == "fixture_change":
        return feed.fixture_change(match, product, row.at, _fixture(row.body).change_type)
    return feed.transition(row.message, match, product, row.at, [_entry(each.body) for each in rows])
