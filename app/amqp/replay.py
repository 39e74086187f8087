"""The messages of a replay: the live ones of then, on an exchange of their own.

They are made from the rows of the change log by the functions that make live messages. Their bodies differ
from those of then in the timestamp only, and only where the replay rewrites timestamps. Keys end with the
node, as those of recoveries; headers are those of live messages, and `x-replay`, the replay's number.
"""

from collections.abc import Mapping, Sequence

import msgspec

from app.amqp.envelope import (
    ODDS,
    TIMESTAMP,
    MatchMessage,
    decode_market,
    decode_summary,
    live_headers,
    live_key,
    match_message,
)
from app.amqp.frames import AmqpMessage
from app.broker.permissions import REPLAY_EXCHANGE
from app.domain.ids import match_urn
from app.domain.market import Market
from app.domain.tenant_offer import OfferRules, TenantOffer
from app.store.changes import BET_STOP, PUBLISHED, ChangeRow, decode_tenant_market
from app.wire.xml import feed


class ReplayRenderer(msgspec.Struct, frozen=True):
    """Renders the replay number `job` for the node `node_id` ("" for none) of a tenant with this offer, which
    receives `probabilities` or not."""

    product: int
    job: int
    node_id: str
    offer: TenantOffer
    probabilities: bool

    def message(self, rows: Sequence[ChangeRow], at: int | None = None) -> AmqpMessage:
        """The message of these rows (one of `published_groups`) as it was published then; with `at` (ms) as
        its timestamp, if that is not None."""
        last = rows[-1]
        if last.entity == BET_STOP:
            return self._bet_stop(last, last.at if at is None else at)
        content = match_message(rows, self.offer.at(last.envelope_seq))
        headers = live_headers(last, last.envelope_seq)
        return self.rendered(content, headers, f"mf-p{self.job}.{last.envelope_seq}", at)

    def _bet_stop(self, row: ChangeRow, at: int) -> AmqpMessage:
        body = feed.bet_stop(match_urn(row.number), self.product, at)
        message_id = f"mf-p{self.job}.{row.seq}"
        return self._message(BET_STOP, row.number, body, live_headers(row, row.seq), message_id, at)

    def present_odds(self, rows: Sequence[ChangeRow], at: int | None = None) -> AmqpMessage:
        """The odds of the markets of these rows, as a recovery would replay them at the last of the rows:
        what a client lacks that has received none of them. `rows` are of one match, the newest of each market
        and that of the match's status, in order."""
        last = rows[-1]
        rules = self.offer.at(last.envelope_seq)
        content = MatchMessage(
            *(ODDS, last.number, last.at, last.envelope_seq),
            status=next((decode_summary(each.body) for each in rows if each.entity == "match"), None),
            markets=[market for each in rows if (market := _market_in_list(each, rules))],
        )
        headers = {"recovery": 1, "x-seq": last.envelope_seq}
        return self.rendered(content, headers, f"mf-p{self.job}.{last.envelope_seq}.present", at)

    def rendered(
        self,
        content: MatchMessage,
        headers: Mapping[str, int | str],
        message_id: str,
        at: int | None = None,
    ) -> AmqpMessage:
        """A message of the replay with these headers and that of the replay."""
        if at is not None:
            content = msgspec.structs.replace(content, at=at)
        body = content.body(self.product, probabilities=self.probabilities)
        return self._message(content.name, content.number, body, headers, message_id, content.at)

    def _message(
        self, name: str, number: int, body: bytes, headers: Mapping[str, int | str], message_id: str, at: int
    ) -> AmqpMessage:
        return AmqpMessage(
            exchange=REPLAY_EXCHANGE,
            routing_key=live_key(name, number, self.node_id or None),
            body=body,
            message_id=message_id,
            at=at,
            headers={**headers, TIMESTAMP: at, "x-replay": self.job},
            persistent=False,
        )


def _market_in_list(row: ChangeRow, rules: OfferRules) -> Market | None:
    if row.entity in PUBLISHED:
        return decode_tenant_market(row.body)
    return rules.market_in_list(decode_market(row.body)) if row.entity == "market" else None
