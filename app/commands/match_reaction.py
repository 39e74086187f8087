"""How one transaction changes a match and its markets: what `match_update` writes; pure.

What a decision needs beyond the match's state, its caller reads: the book, and the past where a draft
`needs_past`.
"""

from collections.abc import Iterable, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from app.commands import change_drafts
from app.commands.match_inputs import MatchInput
from app.domain import changes as c
from app.domain.doubts import PRICE, raise_doubt
from app.domain.market import Book, Market, with_offer_end
from app.domain.match import BEFORE_PLAY, Match, Round, TimelineEvent
from app.kit.version import VERSION
from app.store.changes import ChangeDraft
from app.trading import coefficients, engine
from app.trading.divergence import judged
from app.trading.engine import Reaction
from app.trading.held_probabilities import without_ended
from app.trading.match_facts import Past
from app.trading.price_guard import unexplained_move
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES

Changes = Sequence[c.MatchChange]


class MatchUpdate(msgspec.Struct, frozen=True):
    """All that a transaction changes of a match: its state before (None: it is new) and after, what has
    changed in it, the book before, and what the engine and operators do to that, at `now` (Unix ms). `given`:
    what it can be computed from again."""

    before: Match | None
    after: Match
    changes: Changes
    book: Book
    reaction: Reaction
    now: int
    given: MatchInput | None = None


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An update before the engine reacts: the match as facts and operators have it now, and what an
    operator's action does to the book (`manual`)."""

    before: Match | None
    after: Match
    changes: Changes
    book: Book
    manual: Reaction
    now: int
    may_price: bool
    pricing: PricingConfig
    given: MatchInput | None = None

    @property
    def needs_past(self) -> bool:
        """Whether the engine needs the match's past (`engine.needs_past`)."""
        acted = _acted(self.manual, self.book)
        return self.before is not None and engine.needs_past(self.before, self.changes, acted)


def compare_references(after: Match, changes: Changes, pricing: PricingConfig) -> tuple[Match, Changes]:
    """A match before play, compared with its reference prices; any other as it is."""
    if after.status not in BEFORE_PLAY:
        return after, changes
    compared = judged(after, pricing)
    return compared, changes if compared.doubts == after.doubts else (*changes, c.DetailsChanged())


def _end_held(draft: Draft) -> Draft:
    """The draft without the held probabilities that end now."""
    after = draft.after
    if not after.controls.held:
        return draft
    kept = without_ended(after, draft.changes, draft.book, draft.now, draft.pricing)
    if kept is after:
        return draft
    return replace(draft, after=kept, changes=(*draft.changes, c.ControlsChanged()))


def conclude(draft: Draft, past: Past | None) -> MatchUpdate:
    """The update: held probabilities end where they end now, the engine reacts, and a price that moves
    without a cause suspends the match."""
    draft = _end_held(draft)
    before, after, book, now = draft.before, draft.after, draft.book, draft.now
    if after.types_known != len(RULES):
        after = replace(after, types_known=len(RULES))
    if draft.may_price:
        after = _priced(after)
    draft = replace(draft, after=after)
    reaction = react(draft, past)
    doubted = _doubt_price(before, after, draft.changes, book, reaction, now)
    if doubted is not after:
        draft = replace(draft, after=doubted, changes=(*draft.changes, c.DetailsChanged()))
        reaction = react(draft, past)
    return MatchUpdate(before, draft.after, draft.changes, book, reaction, now, draft.given)


def react(draft: Draft, past: Past | None = None) -> Reaction:
    """What an operator's action and then the engine do to a book, merged: both change markets in the same
    envelopes."""
    manual, acted = draft.manual, _acted(draft.manual, draft.book)
    may_price, pricing = draft.may_price, draft.pricing
    reaction = engine.react(
        draft.after, draft.changes, acted, now=draft.now, may_price=may_price, pricing=pricing, past=past
    )
    changed = {market.key: market for market in (*manual.markets, *reaction.markets)}
    entries = engine.in_order((*manual.entries, *reaction.entries))
    return Reaction(tuple(changed.values()), entries, reaction.reprice_at)


def on_clock(match: Match, book: Book, now: int, pricing: PricingConfig) -> MatchUpdate:
    """The update of a match whose prices are looked at again because time has passed; it changes no market
    where none has moved far enough. For a match without probabilities that a trader holds and that end now
    (`held_probabilities`)."""
    reaction = engine.react(match, (), book, now=now, may_price=True, pricing=pricing)
    priced = _priced(match)
    doubted = _doubt_price(match, priced, (), book, reaction, now) if reaction.markets else priced
    if doubted is priced:
        return MatchUpdate(match, priced, (), book, reaction, now)
    return suspend(match, doubted, (c.DetailsChanged(),), book, reason=doubted.suspended, now=now)


def suspend(
    before: Match | None, after: Match, changes: Changes, book: Book, *, reason: str, now: int
) -> MatchUpdate:
    """The update that suspends every active market for `reason`, and prices and settles none."""
    return MatchUpdate(before, after, changes, book, Reaction(engine.suspend_all(book, reason)), now)


def _acted(manual: Reaction, book: Book) -> Book:
    """The book after an operator's action: itself after none, as whenever a log is applied."""
    return book | {market.key: market for market in manual.markets} if manual.markets else book


@cache
def _model() -> str:
    """What names the model: the version of the program, and that of the coefficients."""
    return f"{VERSION} {coefficients.version()[:12]}"


def _priced(match: Match) -> Match:
    return match if match.priced_by == _model() else replace(match, priced_by=_model())


def _doubt_price(
    before: Match | None, after: Match, changes: Changes, book: Book, reaction: Reaction, now: int
) -> Match:
    """`after`, suspended if a price would move without a cause: the next round's beginning ends that, or an
    operator. Where another model has priced before, as during an upgrade, that is the cause."""
    if before is None or before.priced_by != _model():
        return after
    move = unexplained_move(before, after, changes, book, reaction.markets, now)
    if move is None:
        return after
    after = replace(after, controls=replace(after.controls, held=()))
    return raise_doubt(after, PRICE, f"a price moved without a cause: {move.text}")


def changed_markets(update: MatchUpdate) -> list[Market]:
    """The changed markets as they are stored."""
    book = update.book
    return [with_offer_end(book.get(market.key), market, update.now) for market in update.reaction.markets]


def change_rows(update: MatchUpdate, changed: Sequence[Market]) -> list[ChangeDraft]:
    """The rows of the change log that an update appends."""
    return change_drafts.compose(
        update.before, update.after, update.changes, update.book, changed, update.reaction.entries
    )


def finished_rounds(changes: Iterable[c.MatchChange]) -> list[Round]:
    """The latest version of each finished round."""
    latest: dict[int, Round] = {}
    for change in changes:
        if isinstance(change, c.RoundFinished | c.RoundAmended):
            latest[change.round.id] = change.round
        elif isinstance(change, c.PlayRecorded):
            latest |= {played.id: played for played in change.rounds}
    return list(latest.values())


def timeline_events(changes: Iterable[c.MatchChange]) -> list[TimelineEvent]:
    """The latest version of each event."""
    latest: dict[int, TimelineEvent] = {}
    for change in changes:
        if isinstance(change, c.EventAdded | c.EventAmended):
            latest[change.event.id] = change.event
        elif isinstance(change, c.PlayRecorded):
            latest |= {event.id: event for event in change.events}
    return list(latest.values())
