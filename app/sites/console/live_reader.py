"""Reads all matches in play, the open alerts and the commands that wait for consent: of matches only those
that have changed since.
"""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

import msgspec

from app.domain.match import Match
from app.kit.clock import Clock
from app.sites.console.live_tables import AlertRow, ConsentRow, live_row
from app.sites.console.row_feed import Tables
from app.store import alerts, consent_requests, listings, matches
from app.store.alerts import Alert
from app.store.connections import Store
from app.store.listings import MarketCount, MatchName
from app.store.transaction import Tx

MATCHES, ALERTS, CONSENTS = "matches", "alerts", "consents"  #: the tables


class _Known(msgspec.Struct, frozen=True):
    """A match as it was read, and its row's version then."""

    version: str
    match: Match
    counts: list[MarketCount]


class LiveReader:
    """`read` gives the tables `matches`, `alerts` and `consents`; a fixed number of queries, however many
    there are."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._known: dict[UUID, _Known] = {}

    async def read(self) -> Tables:
        """The rows as they are now, those that need somebody first. Raises `Unavailable`."""
        async with self._store.snapshot() as tx:
            await self._update(tx)
            opened = await alerts.listing(tx, ended=False)
            waiting = await consent_requests.waiting(tx, self._clock())
            subjects = {each.match_id for each in opened if each.match_id}
            names = await self._names(tx, subjects | {each.match_id for each in waiting})
        now, about = self._clock(), _by_match(opened)
        rows = [
            live_row(each.match, each.counts, about.get(match_id, ()), now)
            for match_id, each in self._known.items()
        ]
        rows.sort(key=lambda row: (row.attention, row.number))
        return {
            MATCHES: {str(row.number): row for row in rows},
            ALERTS: _alert_rows(opened, names),
            CONSENTS: {str(each.id): ConsentRow(each, names[each.match_id]) for each in waiting},
        }

    async def _update(self, tx: Tx) -> None:
        present = await listings.live_versions(tx)
        changed = [
            match_id
            for match_id, version in present.items()
            if match_id not in self._known or self._known[match_id].version != version
        ]
        known = {match_id: each for match_id, each in self._known.items() if match_id in present}
        if changed:
            counts = await listings.market_counts(tx, changed)
            for match in await matches.by_ids(tx, changed):
                known[match.id] = _Known(present[match.id], match, counts[match.id])
        self._known = known

    async def _names(self, tx: Tx, about: set[UUID]) -> dict[UUID, MatchName]:
        """The names of these matches, whether or not they are in play."""
        names = await listings.names_by_id(tx, about - self._known.keys())
        here = about & self._known.keys()
        return names | {match_id: _name(self._known[match_id].match) for match_id in here}


def _name(match: Match) -> MatchName:
    return MatchName(match.number, match.home, match.away)


def _by_match(opened: Iterable[Alert]) -> dict[UUID, list[Alert]]:
    found: dict[UUID, list[Alert]] = defaultdict(list)
    for alert in opened:
        if alert.match_id:
            found[alert.match_id].append(alert)
    return found


def _alert_rows(opened: Iterable[Alert], names: dict[UUID, MatchName]) -> dict[str, AlertRow]:
    return {
        str(alert.id): AlertRow(alert, names.get(alert.match_id) if alert.match_id else None)
        for alert in opened
    }
