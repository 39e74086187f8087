"""Reads the evidence of a run: the change log and the ledger from the database, the rest over REST and from
the tenants' clients."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import msgspec

from app.amqp.envelope import Envelope as Rendered
from app.amqp.envelope import EnvelopeRenderer
from app.domain.ids import match_urn
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.tenant_offer import TenantOffer
from app.domain.types_off import entry_offered
from app.store import changes, history, tenants
from app.store.changes import BET_STOP, ChangeRow
from app.store.connections import Store
from scripts.http_client import client
from scripts.lab import recorded_log
from scripts.lab.database_audit import audit_match
from scripts.lab.evidence import Entry, Envelope, Evidence, Quote, Row, Shown, Tenant, windowed
from scripts.lab.feed_client import FeedClient
from scripts.lab.operators import Account
from scripts.lab.stream_client import StreamClient, market_fields, match_fields

_SETTLEMENTS = 200
_SECONDS = 15.0
_STATUS = {"active": 1, "suspended": -1}
Rest = dict[str, Any]


@dataclass
class TenantClients:
    """A tenant of a run: what it logs in with, and its clients. `uncertain`: matches (as the feed names them)
    whose booking was changed; `unbooked`: given back."""

    account: Account
    feed: FeedClient
    stream: StreamClient
    uncertain: set[str] = field(default_factory=set)
    unbooked: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Raises the error that ended a client."""
        self.feed.check()
        self.stream.check()

    async def close(self) -> None:
        await self.feed.close()
        await self.stream.close()


class Collector(msgspec.Struct, frozen=True):
    """`exchange` and `product` are those of the service's settings."""

    store: Store
    base_url: str
    exchange: str
    product: int

    async def collect(
        self,
        played: Mapping[str, str],
        clients: Sequence[TenantClients],
        since: int,
        failures: Sequence[str],
    ) -> Evidence:
        """The evidence about the `played` matches (names in the feed by UUID), from the change `since` on."""
        ids = {UUID(each) for each in played}
        async with self.store.snapshot() as tx:
            log = [row for row in await recorded_log.read(tx, since) if row.match_id in ids]
            marks = await recorded_log.marks(tx)
            ledger = {each: await history.ledger(tx, each) for each in ids}
            wrong = [text for each in sorted(ids) for text in (await audit_match(tx, each)).wrong]
            tenant_ids = [UUID(one.account.tenant_id) for one in clients]
            offers = [await tenants.offer_of(tx, each) for each in tenant_ids]
            stopped = await tenants.with_bet_stop(tx)
            booked = [
                {played[str(each)] for each in await tenants.booked(tx, tenant_id, ids)}
                for tenant_id in tenant_ids
            ]
        envelopes = list(EnvelopeRenderer(self.exchange, self.product).envelopes(log))
        found = [
            await self._tenant(one, played, _published(envelopes, of, stopped), ledger, offer, mine, since)
            for one, of, offer, mine in zip(clients, tenant_ids, offers, booked, strict=True)
        ]
        return Evidence(
            rows=tuple(map(_row, log)),
            marks=marks,
            entries=tuple(_entry(played[str(each)], entry) for each in ids for entry in ledger[each]),
            wrong_settlements=tuple(wrong),
            failures=tuple(failures),
            tenants=tuple(found),
        )

    async def head(self) -> int:
        """The highest number of the change log."""
        async with self.store.autocommit() as tx:
            return await changes.head(tx)

    async def _tenant(
        self,
        clients: TenantClients,
        played: Mapping[str, str],
        envelopes: Sequence[Rendered],
        ledger: Mapping[UUID, Sequence[LedgerEntry]],
        offer: TenantOffer,
        booked: Collection[str],
        since: int,
    ) -> Tenant:
        account, feed, stream = clients.account, clients.feed, clients.stream
        rest = await self._rest(account.key, played, since)
        compared = await self.comparison(clients)
        ours = set(played.values())
        return Tenant(
            slug=account.slug,
            envelopes=tuple(_envelope(played[str(each.match_id)], each, offer) for each in envelopes),
            deliveries=tuple(each for each in feed.deliveries if not each.match or each.match in ours),
            recoveries=tuple(feed.recoveries),
            away=tuple(feed.away),
            uncertain=frozenset(clients.uncertain),
            book=_book(clients, ours - clients.unbooked),
            offer={urn: _quotes(one["markets"]) for urn, one in rest.items() if urn in booked},
            differences=None if compared is None else compared["count"],
            entries=frozenset(
                entry.id
                for each in ledger
                if played[str(each)] in rest
                for entry in ledger[each]
                if entry_offered(entry, offer.types_off)
            ),
            settlements=frozenset(row["id"] for one in rest.values() for row in one["settlements"]),
            frames=tuple(
                msgspec.structs.replace(each, match=played.get(each.match, ""))
                for each in stream.frames
                if not each.match or each.match in played
            ),
            streamed={urn: _followed(one, offer) for urn, one in stream.shown(dict(played)).items()},
            rest={urn: _followed(_shown(one), offer) for urn, one in rest.items()},
        )

    async def _rest(self, key: str, played: Mapping[str, str], since: int) -> dict[str, Rest]:
        """What REST shows of each match; matches that are not the tenant's are left out."""
        found = dict[str, Rest]()
        async with client(self.base_url, key, _SECONDS) as http:
            settlements = await _settlements(http, since)
            for match, urn in played.items():
                path = f"/cs2/v1/matches/{match}"
                resource = await http.get(path)
                if resource.status_code == 404:
                    continue
                found[urn] = {
                    "match": _data(resource),
                    "markets": _data(await http.get(f"{path}/markets")),
                    "settlements": [each for each in settlements if each["match_id"] == match],
                }
        return found

    async def comparison(self, clients: TenantClients) -> Any:
        """The self-check of the tenant's book; None where it is not answered, or during a recovery."""
        try:
            return await clients.feed.comparison()
        except httpx.HTTPError:
            return None


def _data(response: httpx.Response) -> Any:
    return response.raise_for_status().json()["data"]


async def _settlements(http: httpx.AsyncClient, since: int) -> list[Rest]:
    """All entries of the ledger after the one with this id."""
    found = list[Rest]()
    while page := _data(
        await http.get("/cs2/v1/settlements", params={"limit": _SETTLEMENTS, "since_id": since})
    ):
        found += page
        since = page[-1]["id"]
    return found


def _row(row: ChangeRow) -> Row:
    return Row(
        seq=row.seq,
        match=match_urn(row.number),
        entity=row.entity,
        frame=row.frame,
        message=row.message,
        at=row.at,
        envelope=row.envelope_seq,
        previous=row.prev_seq,
    )


def _entry(urn: str, entry: LedgerEntry) -> Entry:
    window = entry.void_window
    if window:
        about = windowed(entry.specifiers, window.start_time, window.end_time)
        return Entry(entry.id, urn, (entry.type_id, about), "pending" if entry.window_rolled_back else "void")
    state = "pending" if entry.new_status is LedgerStatus.PENDING else str(entry.result)
    return Entry(entry.id, urn, entry.key, state)


def _published(envelopes: Sequence[Rendered], tenant_id: UUID, stopped: Collection[UUID]) -> list[Rendered]:
    """What was published to a tenant: `bet_stop` to those alone that receive it, the `stopped`."""
    return [
        each
        for each in envelopes
        if each.tenant_id in (None, tenant_id) and (each.name != BET_STOP or tenant_id in stopped)
    ]


def _envelope(urn: str, each: Rendered, offer: TenantOffer) -> Envelope:
    message, _ = each.rendered_for(offer, probabilities=False)
    return Envelope(each.seq, each.prev_seq, urn, each.name, each.at, message.body)


def _book(clients: TenantClients, ours: Collection[str]) -> dict[str, dict[str, Quote]]:
    found = dict[str, dict[str, Quote]]()
    for one in clients.feed.book.digest()["matches"]:
        if one["match"] in ours:
            found[one["match"]] = {
                f"{market[0]}:{market[1]}": (market[2], str(market[3]) if market[2] == 1 else "")
                for market in one["markets"]
            }
    return found


def _quotes(markets: Sequence[Rest]) -> dict[str, Quote]:
    return {
        f"{each['id']}:{each['specifiers']}": (
            _STATUS[each["status"]],
            str(float(each["odds"])) if each["status"] == "active" else "",
        )
        for each in markets
        if each["status"] in _STATUS
    }


def _shown(rest: Rest) -> Shown:
    markets = {each["market_offer_id"]: market_fields(each) for each in rest["markets"]}
    return Shown(markets, match_fields(rest["match"]))


def _followed(shown: Shown, offer: TenantOffer) -> Shown:
    """What the stream keeps equal to REST: of a market whose type is off only its status."""
    return msgspec.structs.replace(
        shown,
        markets={
            name: {"status": market["status"]} if market["id"] in offer.now.off else market
            for name, market in shown.markets.items()
        },
    )
