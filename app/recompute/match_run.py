"""A match in memory: what the service stores of one, and how one transaction after the other changes it."""

from collections.abc import Sequence

from msgspec.structs import replace

from app.commands import match_reaction
from app.commands.market_actions import ManualMarketAction, no_action
from app.commands.match_reaction import Draft, MatchUpdate, finished_rounds, timeline_events
from app.domain.changes import ControlsChanged, MatchChange
from app.domain.facts import EndOverdue, Fact
from app.domain.maps import end_due_at
from app.domain.market import Book
from app.domain.match import Match, Round, Status, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.domain.transitions import fold
from app.ingest import cs2log
from app.ingest.log_facts import apply_facts, fit_between, with_ended_doubts
from app.trading.held_probabilities import without_ended
from app.trading.match_facts import Past, whether_standing
from app.trading.pricing import PricingConfig


class MatchRun:
    """A match with its markets, rounds, events and ledger. `reprice_at` is when (Unix ms) its prices must be
    looked at again if no line comes, None if time changes none; `last_batch_at` when the newest lines
    arrived; `unread` are the lines about play that could not be parsed."""

    def __init__(self, match: Match, pricing: PricingConfig) -> None:
        self.match = match
        self.pricing = pricing
        self.book: Book = {}
        self.ledger: list[LedgerEntry] = []
        self.rounds: dict[int, Round] = {}
        self.events: dict[int, TimelineEvent] = {}
        self.reprice_at: int | None = None
        self.last_batch_at = 0
        self.known_lines = 0
        self.unread: list[str] = []

    def open(self, now: int) -> MatchUpdate:
        """Offer the markets of the new match."""
        return self.react(None, self.match, (), now)

    def lines(self, body: bytes, now: int) -> MatchUpdate:
        """Apply lines that arrive at `now` (Unix ms)."""
        reading = cs2log.read(body, now)
        self.known_lines += reading.known
        self.unread += reading.unread
        facts: Sequence[Fact] = fit_between(reading.facts, self.last_batch_at, now)
        facts, _ = with_ended_doubts(self.match, facts, has_gap=False, arrived_at=now)
        self.last_batch_at = max(now, self.last_batch_at)
        after, changes = apply_facts(self.match, facts, now, may_price=True)
        return self.react(self.match, after, changes, now)

    @property
    def due_at(self) -> int | None:
        """When (Unix ms) the clock is due: prices must be looked at again, or the map ends by the rules."""
        if self.match.status is not Status.LIVE:
            return None
        return self.reprice_at or end_due_at(self.match)

    def on_clock(self, now: int) -> MatchUpdate:
        """What `ingest.match_checks` does with a match that is due."""
        ends_at = end_due_at(self.match)
        if ends_at is None or ends_at > now:
            return self.reprice(now)
        after, changes = fold(self.match, [EndOverdue(at=now)])
        return self.react(self.match, after, changes, now)

    def reprice(self, now: int) -> MatchUpdate:
        """Look at the prices again because time has passed."""
        match = self.match
        if match.controls.held:
            kept = without_ended(match, (), self.book, now, self.pricing)
            if kept is not match:
                return self.react(match, kept, (ControlsChanged(),), now)
        return self._stored(match_reaction.on_clock(match, self.book, now, self.pricing))

    def suspend(self, after: Match, changes: Sequence[MatchChange], now: int, reason: str) -> MatchUpdate:
        """Suspend every market for `reason`."""
        update = match_reaction.suspend(self.match, after, changes, self.book, reason=reason, now=now)
        return self._stored(update)

    def react(
        self,
        before: Match | None,
        after: Match,
        changes: Sequence[MatchChange],
        now: int,
        *,
        may_price: bool = True,
        action: ManualMarketAction = no_action,
    ) -> MatchUpdate:
        """Open, price, suspend and settle markets as `commands.match_update.prepare` does."""
        after, changes = match_reaction.compare_references(after, changes, self.pricing)
        draft = Draft(
            before=before,
            after=after,
            changes=changes,
            book=self.book,
            manual=action(self.book),
            now=now,
            may_price=may_price,
            pricing=self.pricing,
        )
        return self._stored(match_reaction.conclude(draft, self._past() if draft.needs_past else None))

    def _past(self) -> Past:
        rounds = self.rounds.values()
        events = [self.events[number] for number in sorted(self.events)]
        void = [one.id for one in rounds if one.void] + [event.id for event in events if event.void]
        return Past(tuple(events), frozenset(void), tuple(self.ledger))

    def _stored(self, update: MatchUpdate) -> MatchUpdate:
        changed = match_reaction.changed_markets(update)
        self.match, self.reprice_at = update.after, update.reaction.reprice_at
        self.book = self.book | {market.key: market for market in changed}  # the update has the one before
        self.ledger += update.reaction.entries
        self.rounds |= {one.id: one for one in finished_rounds(update.changes)}
        self.events |= {event.id: event for event in timeline_events(update.changes)}
        for number, stands in whether_standing(update.changes).items():
            if number in self.rounds:
                self.rounds[number] = replace(self.rounds[number], void=not stands)
            if number in self.events:
                self.events[number] = replace(self.events[number], void=not stands)
        return update

    def number_entry(self, entry: LedgerEntry) -> None:
        """Note the number and timestamp that the store gave to an entry of the last transaction."""
        for place, known in reversed([*enumerate(self.ledger)]):
            if known == replace(entry, id=0, at=0):
                self.ledger[place] = entry
                return
