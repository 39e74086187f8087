"""How the book of a match changes after the match has changed."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain, compress, islice
from operator import is_not

import msgspec
from msgspec.structs import replace

from app.domain.changes import (
    ControlsChanged,
    DetailsChanged,
    EventsVoided,
    FormatChanged,
    MapFinished,
    MatchCancelled,
    MatchChange,
    MatchFinished,
    RoundAmended,
    RoundsReinstated,
    RoundsVoided,
)
from app.domain.doubts import public_reason
from app.domain.market import (
    ACTIVE,
    CLOSED,
    HELD,
    OPEN,
    SETTLED,
    SUSPENDED,
    Book,
    Market,
    MarketKey,
    PricePhase,
)
from app.domain.match import Match, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.suspension_reasons import LATE_FACTS, OFF_OFFER, pause_reason
from app.domain.trading_controls import CONTROL_REASONS
from app.trading import void_bets
from app.trading.forecast import Forecast
from app.trading.market_controls import MarketControls, market_controls, price_phase
from app.trading.match_facts import MatchFacts, Past, Subject, collect_facts, events_alone
from app.trading.offer_plan import Scope
from app.trading.offers import Offer, has_moved, has_moved_by, main_lines, priced_offers
from app.trading.pricing import PricingConfig
from app.trading.pricing import odds as odds_of
from app.trading.registry import RULES
from app.trading.repricing import reprice_at
from app.trading.rules import parse_specifiers, subjects_of
from app.trading.settling import (
    outdated_reason,
    rests_on_round,
    roll_back,
    settle,
    settlement_of,
    waits_for_format,
)

Markets = Iterable[tuple[MarketKey, Market]]
#: Prices of rounds are published first: markets that open are in this order in the book.
_SCOPES: tuple[Scope, ...] = ("round", "map", "player")
#: Changes after which something settled may no longer hold.
_REVERSING = (
    RoundsVoided,
    RoundsReinstated,
    FormatChanged,
    MapFinished,
    MatchFinished,
    MatchCancelled,
    DetailsChanged,
)


class Reaction(msgspec.Struct, frozen=True):
    """`markets`: each changed market once, in its final state, and those of which bets became void.
    `entries`: the ledger's new rows, `in_order`. `reprice_at` (Unix ms): when the prices may next change
    because time passes; None: not before something happens."""

    markets: tuple[Market, ...] = ()
    entries: tuple[LedgerEntry, ...] = ()
    reprice_at: int | None = None


def react(
    match: Match,
    changes: Sequence[MatchChange],
    book: Book,
    *,
    now: int,
    may_price: bool,
    pricing: PricingConfig,
    past: Past | None = None,
) -> Reaction:
    """What must change in `book` now that `match` is as it is.

    `match` is the state after `changes`, seen at `now` (Unix ms). Without
    `may_price` every active market is suspended; markets are settled, but none is opened or priced. Markets
    that an operator settled stay as they are until an operator rolls them back, held ones until they are
    released. `past`: what the state lacks, if it `needs_past`.
    """
    facts, reason = collect_facts(match, changes, past), _reason_to_suspend(match, may_price)
    after = dict(book)
    entries = _roll_back_outdated(facts, changes, after)
    replayed = void_bets.affected_markets(void_bets.replayed_plays(changes).values(), book, after)
    format_entries, windows = void_bets.apply_format_change(match, facts, changes, after, now)
    entries += format_entries
    open_before = [one for one in after.items() if (status := one[1].status) is ACTIVE or status is SUSPENDED]
    events = events_alone(changes)
    settled = _settle_decided(facts, after, open_before, None if reason or past else events)
    if settled:
        entries += settled
        closed = {entry.key for entry in settled}
        open_before = [one for one in open_before if one[0] not in closed]
    due_at = None
    if reason:
        _suspend(after, open_before, reason)
    else:
        forecast = Forecast(facts, now)
        controls = market_controls(forecast, pricing)
        margins_may_change = events is None and (
            bool(match.controls.margins) or any(isinstance(change, ControlsChanged) for change in changes)
        )
        offers, published = _apply_offers(
            forecast, after, open_before, now, pricing, controls, every=margins_may_change
        )
        if published or entries:
            _mark_favourites(after, [offer for offer in offers if offer.group.ladder])
        if forecast.phase.live:
            due_at = reprice_at(forecast, offers, after, pricing)
    entries += void_bets.window_entries(windows, after)
    entries += void_bets.void_entries(replayed, after, now)
    entries += (restored := void_bets.restored_entries(changes, past, book, after))
    touched = {*replayed, *[entry.key for entry in restored]}
    return Reaction(_changed(book, after, touched), in_order(entries), due_at)


def _changed(book: Book, after: Book, touched: Collection[MarketKey]) -> tuple[Market, ...]:
    """The markets of `after` that differ from those of `book`, with which `after` begins, and those that are
    `touched`, of which bets became void or valid again."""
    if touched:
        found = [
            market
            for key, known, market in zip(book, book.values(), after.values(), strict=False)
            if market != known or key in touched
        ]
    else:
        pairs = zip(book.values(), after.values(), strict=False)
        others = compress(pairs, map(is_not, book.values(), after.values()))
        found = [market for known, market in others if market != known]
    return (*found, *[after[key] for key in islice(after, len(book), None)])


def in_order(entries: Iterable[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """The entries of one transaction as the ledger has them: rollbacks, settlements, voids, then the
    entries about a part of a market's bets. Entries of one feed message are adjacent, and those of one market
    in their order."""
    return tuple(sorted(entries, key=_order))


#: Where the entries of one transaction stand in the ledger, by their new status.
_RANKS = {LedgerStatus.PENDING: 0, LedgerStatus.SETTLED: 1, LedgerStatus.VOIDED: 2}


def needs_past(before: Match, changes: Sequence[MatchChange], book: Book) -> bool:
    """Whether settlements may have to be made or rolled back that rest on rounds which were over, or void, in
    `before` already. That is so if such a round is reinstated or amended, if a process that knows other
    market types wrote `before`, or if a market of a round that is over and not in doubt is open and not held
    (an operator has released it)."""
    reinstated = any(isinstance(change, RoundsReinstated | RoundAmended) for change in changes)
    if reinstated or before.types_known != len(RULES):
        return True
    over = {
        (play.number, one.number)
        for play in before.maps
        for one in play.counted
        if not one.gap and not one.doubted_by
    }
    for (_, text), market in book.items():
        if market.status in OPEN and market.settled_by != HELD:
            specifiers = parse_specifiers(text)
            if (specifiers.map, specifiers.round) in over:
                return True
    return False


def suspend_all(book: Book, reason: str) -> tuple[Market, ...]:
    """Every active market, suspended for `reason`."""
    after = dict(book)
    _suspend(after, book.items(), reason)
    return tuple(market for key, market in after.items() if market is not book[key])


def _order(entry: LedgerEntry) -> tuple[object, ...]:
    if entry.void_window is not None:
        return 3, entry.window_rolled_back, entry.void_window
    return _RANKS[entry.new_status], entry.previous_status


def _roll_back_outdated(facts: MatchFacts, changes: Sequence[MatchChange], after: Book) -> list[LedgerEntry]:
    voided_rounds = {(one.map, one.round) for one in changes if isinstance(one, EventsVoided)}
    reversing = bool(facts.voided) or any(isinstance(change, _REVERSING) for change in changes)
    if not reversing and not facts.match.format_status.doubted_maps:
        return []
    entries = []
    for key, market in after.items():
        if market.status not in CLOSED or market.settled_by != "engine" or market.type_id not in RULES:
            continue
        rule, specifiers = RULES[market.type_id], parse_specifiers(market.specifiers)
        if rule.subject and (specifiers.map, specifiers.round) in voided_rounds:
            if market.status is SETTLED:
                after[key], entry = roll_back(market, "the events that it rested on are void")
                entries.append(entry)
            continue
        if specifiers.round and not facts.voided and rests_on_round(market, specifiers):
            continue
        if not reversing and not waits_for_format(rule, facts, specifiers):
            continue
        why = outdated_reason(market, rule, facts, specifiers)
        if why:
            after[key], entry = roll_back(market, why)
            entries.append(entry)
    return entries


def _settle_decided(
    facts: MatchFacts, after: Book, open_before: Markets, events: Sequence[TimelineEvent] | None
) -> list[LedgerEntry]:
    """Settle what the facts decide. What was open before was not decided before: where nothing but these
    `events` of a round has happened since, only they decide; None: anything may have happened."""
    entries = []
    if events is not None:
        subjects = subjects_of(events)
        types = {number for number, rule in RULES.items() if rule.subject} if subjects else ()
        open_before = [
            one
            for one in open_before
            if (one[0][0] in types and _subject(one[0]) in subjects) or one[1].settled_by
        ]
    for key, market in open_before:
        rule = RULES.get(key[0])
        if rule is None or market.settled_by == HELD:
            continue
        found = settlement_of(rule, facts, parse_specifiers(key[1]))
        if found:
            after[key], entry = settle(market, found)
            entries.append(entry)
    return entries


@lru_cache(maxsize=65_536)
def _subject(key: MarketKey) -> Subject | None:
    """What an event must be about to decide this market; None where none does."""
    rule = RULES.get(key[0])
    return rule.subject(parse_specifiers(key[1])) if rule and rule.subject else None


def _reason_to_suspend(match: Match, may_price: bool) -> str:
    """Why nothing at all may be on offer, or ""."""
    why = public_reason(match) or pause_reason(match)
    if why:
        return why
    return "" if may_price else LATE_FACTS


def _suspend(after: Book, open_before: Markets, reason: str) -> None:
    """Suspend those of the `open_before` markets that are active."""
    for key, market in open_before:
        if market.status is ACTIVE:
            after[key] = replace(market, status=SUSPENDED, reason=reason)


def _suspend_unoffered(
    after: Book, open_before: Markets, offered: Collection[MarketKey], controls: MarketControls | None
) -> bool:
    """Suspend those of the `open_before` markets that are active and not offered; whether there were any.
    What traders have set is the reason, also of what is suspended already, as long as it holds."""
    gone = False
    for key, market in [one for one in open_before if one[0] not in offered]:
        active = market.status is ACTIVE
        if not (active or controls or market.reason in CONTROL_REASONS):
            continue
        by_trader = controls.reason(key, market.group) if controls and not market.held else ""
        if active or by_trader or market.reason in CONTROL_REASONS:
            reason = by_trader or OFF_OFFER
            if active or market.reason != reason:
                after[key] = replace(market, status=SUSPENDED, reason=reason)
            gone = gone or active
    return gone


def _apply_offers(
    forecast: Forecast,
    after: Book,
    open_before: Markets,
    now: int,
    pricing: PricingConfig,
    controls: MarketControls | None,
    *,
    every: bool,
) -> tuple[list[Offer], bool]:
    """Open and price the offers, and suspend the rest. Returns the offers, and whether any of that may have
    changed the book.

    Prices of one round depend on each other, and so do those of maps and match: either all of them move
    or none, so that lines never contradict each other. During a round they wait until one has moved by a
    step, or a market is opened or suspended: clock, health and weapons move them a little with every line.
    With `every` price it is not only the probability that may have changed: all are published.
    """
    offers = priced_offers(forecast, after, pricing, controls)
    offered = frozenset(chain.from_iterable([offer.group.keys for offer in offers]))
    suspended = _suspend_unoffered(after, open_before, offered, controls)
    if (
        forecast.current_round
        and not (suspended or every)
        and not has_moved_by(pricing.price_step, offers, after)
    ):
        return offers, False
    phase = price_phase(forecast)
    for scope in _SCOPES:
        if every or has_moved(pricing.price_step, offers, scope, after):
            _quote(after, offers, scope, phase, now)
    return offers, True


def _quote(after: Book, offers: Iterable[Offer], scope: Scope, phase: PricePhase, now: int) -> None:
    """Open and price the offered markets about this `scope`."""
    for offer in offers:
        if scope in offer.group.scopes:
            for key, probability, share in offer.members(scope):
                after[key] = _quoted_market(after.get(key), key, offer, probability, share, phase, now)


def _mark_favourites(after: Book, offers: Sequence[Offer]) -> None:
    """Mark the main line of each ladder among these offers, which are all active. It may be another although
    no price has moved: lines settle and go off offer."""
    favourites = main_lines(offers, after)
    for offer in offers:
        favourite = offer.group.name in favourites
        for key in offer.group.keys:
            market = after[key]
            if market.favourite is not favourite:
                after[key] = replace(market, favourite=favourite)


def _quoted_market(
    known: Market | None,
    key: MarketKey,
    offer: Offer,
    probability: float,
    share: float,
    phase: PricePhase,
    now: int,
) -> Market:
    """The market as offered; the same object when nothing about it differs but the phase."""
    odds, probability, factor = odds_of(share), round(probability, 9), offer.margin_factor
    if known is None:
        type_id, specifiers = key
        return Market(
            type_id=type_id,
            specifiers=specifiers,
            status=ACTIVE,
            odds=odds,
            probability=probability,
            group=offer.group.name,
            opened_at=now,
            priced_at=now,
            first_opened_at=now,
            phase=phase,
            group_size=len(offer.shares),
            margin_factor=factor,
        )
    same = known.probability == probability and known.odds == odds and known.status is ACTIVE
    if same and known.margin_factor == factor:
        return known
    return replace(
        known,
        status=ACTIVE,
        odds=odds,
        probability=probability,
        group=offer.group.name,
        reason="",
        priced_at=now,
        phase=phase,
        group_size=len(offer.shares),
        margin_factor=factor,
    )
