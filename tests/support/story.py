"""Matches on which markets open, settle, are voided and rolled back, stored as ingest stores them."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from uuid import uuid4

from msgspec.structs import replace

from app.commands import change_drafts
from app.domain import changes as c
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import MapPlay, Match, MatchPlayer, Status, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.kit.clock import system_clock
from app.store import changes, history, markets, matches
from app.store.connections import Store
from app.store.transaction import Tx
from tests.support import stored

_STATUS = {
    LedgerStatus.SETTLED: MarketStatus.SETTLED,
    LedgerStatus.VOIDED: MarketStatus.CANCELLED,
    LedgerStatus.PENDING: MarketStatus.SUSPENDED,
}


def offer(round_number: int, **fields: object) -> Market:
    """An open market on a round."""
    market = Market(13, f"map=1|round={round_number}|team=home", MarketStatus.ACTIVE, Decimal("1.85"), 0.5)
    return replace(market, **fields)


def kill(at: int, offset_ms: int, killer: str = "Ann") -> TimelineEvent:
    """The first event of a match: somebody of the home team kills Bob."""
    return TimelineEvent(
        id=1,
        type="kill",
        map=1,
        round=1,
        at=at,
        offset_ms=offset_ms,
        actor=MatchPlayer(1, killer),
        actor_team="home",
        target=MatchPlayer(2, "Bob"),
        target_team="away",
        weapon="ak47",
    )


class Story:
    """Everything is written through the store, one transaction a call, at `now()` (ms); `at` is the last
    timestamp."""

    def __init__(self, store: Store, now: Callable[[], int] = system_clock) -> None:
        self.store, self._now = store, now
        self.at = 0

    async def match(self, *offers: Market, status: Status = Status.LIVE, **fields: object) -> Match:
        """A match with these fields, the rest invented, and with these on offer."""
        async with self.store.transaction() as tx:
            match = await _inserted(tx, status, **fields)
        if offers:
            await self.offer(match, *offers)
        return match

    async def announce(self, status: Status = Status.UPCOMING) -> Match:
        """A match in the change log from its beginning."""
        async with self.store.transaction() as tx:
            match = await _inserted(tx, status)
            rows = change_drafts.compose(None, match, (), {}, (), ())
            return await changes.append(tx, match, rows, self._now())

    async def happen(self, match: Match, *happened: c.MatchChange, **fields: object) -> None:
        """These changes, and the fields of the match as they are then."""
        await self._write(match, happened=happened, **fields)

    async def offer(self, match: Match, *offers: Market) -> None:
        await self._write(match, offered=offers)

    async def start(self, match: Match) -> None:
        await self._write(match, happened=(c.MatchStarted(),), status=Status.LIVE)

    async def settle(self, match: Match, *offers: Market, result: Result = Result.WON) -> None:
        await self._move(match, offers, LedgerStatus.SETTLED, result)

    async def settled(self) -> tuple[Match, Market]:
        """A match in play with a market that was settled as won."""
        match, market = await self.match(), offer(1, group="g")
        await self.happen(match, maps=(MapPlay(1, "de_dust2", "live", home_side="CT"),))
        await self.offer(match, market)
        await self.settle(match, market)
        return match, market

    async def void(self, match: Match, *offers: Market) -> None:
        await self._move(match, offers, LedgerStatus.VOIDED, Result.VOID)

    async def take_back(self, match: Match, *offers: Market) -> None:
        """Reverse the last settlement or void of these."""
        await self._move(match, offers, LedgerStatus.PENDING, None)

    async def void_bets(
        self, match: Match, window: VoidWindow, *offers: Market, rolled_back: bool = False
    ) -> None:
        """Void the bets of a window on these markets, or roll that back; the markets stay as they are."""
        book = await stored.book(self.store, match)
        about = [book[offered.key] for offered in offers]
        entries = [
            LedgerEntry(
                *market.key,
                *[_ledger_status(market)] * 2,
                market.result,
                "by the test",
                void_window=window,
                window_rolled_back=rolled_back,
            )
            for market in about
        ]
        await self._write(match, offered=about, entries=entries)

    async def record(self, match: Match, market: Market, entry: LedgerEntry) -> None:
        """A market and an entry of the ledger about it, as they are."""
        await self._write(match, offered=(market,), entries=(entry,))

    async def finish(self, match: Match) -> None:
        await self._write(match, status=Status.FINISHED, finished_at=self._now(), winner="home")

    async def cancel(self, match: Match) -> None:
        await self._write(
            match, happened=(c.MatchCancelled(),), status=Status.CANCELLED, finished_at=self._now()
        )

    async def _move(
        self, match: Match, offers: Sequence[Market], to: LedgerStatus, result: Result | None
    ) -> None:
        book = await stored.book(self.store, match)
        ended, entries = [], []
        for offered in offers:
            before = _ledger_status(book[offered.key])
            entries.append(
                LedgerEntry(offered.type_id, offered.specifiers, before, to, result, "by the test")
            )
            ended.append(replace(offered, status=_STATUS[to], result=result))
        await self._write(match, offered=ended, entries=entries)

    async def _write(
        self,
        match: Match,
        *,
        happened: Sequence[c.MatchChange] = (),
        offered: Sequence[Market] = (),
        entries: Sequence[LedgerEntry] = (),
        **fields: object,
    ) -> None:
        async with self.store.transaction() as tx:
            before = await matches.lock(tx, match.id)
            after = replace(before, **fields)
            book, now = await markets.book(tx, match.id), self._now()
            opened = {one.key: book[one.key].first_opened_at if one.key in book else now for one in offered}
            markets_changed = [replace(one, first_opened_at=opened[one.key]) for one in offered]
            entries = [replace(one, first_opened_at=opened[one.key]) for one in entries]
            rows = change_drafts.compose(before, after, happened, book, markets_changed, entries)
            await tx.write([matches.save_statement(after)])
            rounds = [one.round for one in happened if isinstance(one, c.RoundFinished)]
            events = [one.event for one in happened if isinstance(one, c.EventAdded)]
            await tx.write(history.add_statements(match.id, rounds, events))
            await tx.write(markets.save_statements(match.id, markets_changed))
            self.at = (await changes.append(tx, after, rows, now)).last_stamp


async def _inserted(tx: Tx, status: Status, **fields: object) -> Match:
    number = await matches.next_number(tx)
    match = replace(Match(uuid4(), number, "Northwind", "Harbour", "Test Cup", status=status), **fields)
    await matches.insert(tx, match)
    return match


def _ledger_status(market: Market) -> LedgerStatus:
    known = {status: ledger for ledger, status in _STATUS.items()}
    return known.get(market.status, LedgerStatus.PENDING)
