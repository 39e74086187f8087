"""A map in play that people trade: every step is one transaction, and checked."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from app.commands.change_drafts import compose
from app.commands.effects import Effect, effect_of
from app.commands.execution import oldest_changed
from app.commands.market_actions import ManualMarketAction, no_action
from app.commands.match_commands import Command
from app.commands.match_reaction import Draft, react
from app.commands.undo import CommandState, state_of, undo_effect
from app.domain.changes import MatchChange
from app.domain.market import Book, Market, MarketKey, with_offer_end
from app.domain.match import Match
from app.domain.settlement import LedgerStatus
from app.trading.engine import Reaction
from app.trading.held_probabilities import without_ended
from app.trading.match_facts import collect_facts
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from app.trading.settlement_check import check_settlements
from app.trading.settling import settlement_of
from tests.unit.domain.play import SECOND, Server, new_match
from tests.unit.trading.trader import PRICING, Trader


def reaction_to(
    after: Match, changes: Sequence[MatchChange], book: Book, action: ManualMarketAction, now: int
) -> Reaction:
    """What an operator's action and the engine do to the book."""
    draft = Draft(
        before=None,
        after=after,
        changes=changes,
        book=book,
        manual=action(book),
        now=now,
        may_price=True,
        pricing=PRICING,
    )
    return react(draft)


class Executed(NamedTuple):
    command: Command
    before: CommandState
    after: CommandState


#: A result is an old one after this many ms: a round is longer, a command is given within it.
OLD = 5 * SECOND


class TradedMap(Trader):
    """The first map of a match as a server plays it and people trade it; every step is one transaction."""

    def __init__(self, best_of: int) -> None:
        super().__init__(new_match(best_of))
        self.server = Server(self.match)
        self.seen = 0
        self.executed: list[Executed] = []
        self.waiting: list[Command] = []
        self.folded: Book = {}
        self.margin_of = self.margin_set
        self.follow()

    def follow(self) -> None:
        """React to what the server has reported since, and to the time."""
        changes, self.seen = self.server.changes[self.seen :], len(self.server.changes)
        self._transact(self.server.match, changes)

    def execute(self, command: Command, *, consent: bool = False) -> None:
        """Executed, or it waits for consent. Raises what the interface would refuse it with; nothing has
        happened then."""
        effect = effect_of(command, self.match, self.server.later())
        if not consent and self.changes_old(effect):
            self.waiting.append(command)
            return
        self._carry_out(command, effect)

    def consent(self, command: Command) -> None:
        """Consent to a command that waits: it is executed on the match as it is now."""
        self.waiting.remove(command)
        self.execute(command, consent=True)

    def undo(self, executed: Executed) -> None:
        effect = undo_effect(*executed, self.match, "taken back")
        if not self.changes_old(effect):
            self._carry_out(None, effect)

    def changes_old(self, effect: Effect) -> bool:
        """Whether a second person must consent."""
        after, changes, action = effect.after, effect.changes, effect.action
        reaction = reaction_to(after, changes, self.book, action, self.server.now)
        oldest = oldest_changed(reaction.entries, self.ledger)
        return oldest is not None and oldest < self.server.now - OLD

    def old_results(self) -> dict[MarketKey, object]:
        """The results that were published long ago, by market."""
        published = {entry.key: entry for entry in self.ledger}
        return {
            key: (entry.new_status, entry.result, entry.void_reason_id)
            for key, entry in published.items()
            if entry.new_status is not LedgerStatus.PENDING and entry.at < self.server.now - OLD
        }

    def _carry_out(self, command: Command | None, effect: Effect) -> None:
        before = command and state_of(self.match, self.book, command)
        self._transact(effect.after, effect.changes, effect.action)
        if command and before:
            self.executed.append(Executed(command, before, state_of(self.match, self.book, command)))

    def _transact(
        self, after: Match, changes: Sequence[MatchChange], action: ManualMarketAction = no_action
    ) -> None:
        before, now = self.match, self.server.now
        after = without_ended(after, changes, self.book, now, PRICING)
        reaction = reaction_to(after, changes, self.book, action, self.server.now)
        drafts = compose(before, after, changes, self.book, reaction.markets, reaction.entries)
        self.match = self.server.match = after
        self.now = now
        self._store(changes)
        for market in reaction.markets:
            self.book[market.key] = with_offer_end(self.book.get(market.key), market, now)
        self.ledger += [replace(entry, at=now) for entry in reaction.entries]
        for draft in drafts:
            if draft.entity == "market":
                market = msgspec.json.decode(draft.body, type=Market)
                self.folded[market.key] = market
        self.check(reaction, changes, may_price=True)

    def check(self, reaction: Reaction, changes: Sequence[MatchChange], *, may_price: bool) -> None:
        self._offers_only_when_allowed(may_price)
        self._books_sum()
        self._ledger_matches_book()
        facts = collect_facts(self.match, changes)
        for market in self.open():
            if not market.held and market.settled_by != "admin":
                assert (
                    settlement_of(RULES[market.type_id], facts, parse_specifiers(market.specifiers)) is None
                ), market
        differences = check_settlements(
            self.match, list(self.rounds.values()), list(self.events.values()), self.ledger
        )
        assert not differences
        assert {key: seen(market) for key, market in self.folded.items()} == {
            key: seen(market) for key, market in self.book.items()
        }

    def margin_set(self, group: Sequence[Market]) -> float:
        """What is set for a type goes before what is set for all, then what is set for the phase."""
        play, families = self.match.map, {RULES[one.type_id].family for one in group}
        phase = "in_play" if self.match.started_at is not None else "before_play"
        if play and max(play.home_score, play.away_score) >= play.max_rounds // 2:
            phase = "last_rounds"
        found = {
            (bool(one.family), bool(one.phase)): one.margin
            for one in self.match.controls.margins
            if one.family in families | {""} and one.phase in ("", phase)
        }
        return found[max(found)] if found else PRICING.margin


def seen(market: Market) -> tuple[object, ...]:
    """What a tenant sees of a market."""
    return market.status, market.odds, market.result, market.void_reason_id
