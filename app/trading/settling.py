"""Settlements to ledger entries, and rollbacks. A changed result is always a rollback, then a settlement.

The engine does not touch what an operator decides about one market (`settle_manually` and the functions after
it) until an operator rolls it back. A market that is open again after that follows the facts as before,
unless the caller marks it as held (`market.HELD`, as `commands.market_actions` does): then the engine neither
offers nor settles it until an operator settles, voids or releases it. Held or not, an open market can be
settled and voided. Each of these functions returns the market and its ledger entry; where the market's
present state forbids it, it raises `Conflict`, which names that state.
"""

from msgspec.structs import replace

from app.domain.market import CANCELLED, SETTLED, SUSPENDED, Market, Result
from app.domain.settlement import LedgerEntry, LedgerStatus, SettledBy, VoidWindow
from app.kit.errors import Conflict
from app.trading.match_facts import MatchFacts
from app.trading.rules import NO_RESULT, NOT_PLAYED, Rule, Settlement, Specifiers, void

_LEDGER = {SETTLED: LedgerStatus.SETTLED, CANCELLED: LedgerStatus.VOIDED}


def settlement_of(rule: Rule, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """The settlement by the facts, if what it depends on is known."""
    if waits_for_format(rule, facts, specifiers):
        return void(NO_RESULT, (), "the format of the map was never known") if facts.cancelled else None
    if waits_for_events(rule, facts, specifiers):
        return void(NO_RESULT, (), "what happened was never known") if facts.cancelled else None
    return settlement_by_rule(rule, facts, specifiers)


def settlement_by_rule(rule: Rule, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """The settlement of a market that waits for nothing."""
    return rule.settle(facts, specifiers) or _void_if_impossible(facts, specifiers)


def waits_for_format(rule: Rule, facts: MatchFacts, specifiers: Specifiers) -> bool:
    """Whether the result depends on a format that is not known. The first half's pistol round is the map's
    first round in any."""
    return rule.by_format and specifiers.half != 1 and facts.format_open(specifiers.map)


def waits_for_events(rule: Rule, facts: MatchFacts, specifiers: Specifiers) -> bool:
    """Whether the result rests on events that are in doubt."""
    if not facts.doubted_rounds or rule.subject is None:
        return False
    return facts.events_in_doubt(rule.subject(specifiers))


def _void_if_impossible(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    """A void, if the event can no longer take place."""
    if facts.unseen((specifiers.map, specifiers.round)):
        return void(NO_RESULT, (), "how this round ended is not known")
    play = facts.plays.get(specifiers.map)
    ended = play is not None and play.status == "finished"
    if not ended and not facts.over:
        return None
    played = facts.rounds.get((specifiers.map, specifiers.round))
    if played:
        return void(NO_RESULT, (played.id,), "what happened in this round is not known")
    if facts.cancelled and not ended:
        return void(NOT_PLAYED, (), "the match was cancelled")
    return void(NOT_PLAYED, (play.end_id,) if play and play.end_id is not None else (), "it was not played")


def settle(market: Market, found: Settlement, settled_by: SettledBy = "engine") -> tuple[Market, LedgerEntry]:
    """Close an open market. It is a resettlement when it had been settled before."""
    voided = found.result is Result.VOID
    entry = LedgerEntry(
        type_id=market.type_id,
        specifiers=market.specifiers,
        previous_status=LedgerStatus.PENDING,
        new_status=LedgerStatus.VOIDED if voided else LedgerStatus.SETTLED,
        result=found.result,
        reason=found.reason,
        rests_on=found.rests_on,
        settled_by=settled_by,
        is_resettlement=bool(market.settled_by),
        void_reason_id=found.void_reason_id,
        first_opened_at=market.first_opened_at,
    )
    closed = replace(
        market,
        status=CANCELLED if voided else SETTLED,
        reason=found.reason,
        result=found.result,
        void_reason_id=found.void_reason_id,
        rests_on=found.rests_on,
        settled_by=settled_by,
    )
    return closed, entry


def roll_back(market: Market, reason: str, settled_by: SettledBy = "engine") -> tuple[Market, LedgerEntry]:
    """Roll back a settlement or a void; the market is open again, and suspended until it is priced."""
    voided = market.status is CANCELLED
    entry = LedgerEntry(
        type_id=market.type_id,
        specifiers=market.specifiers,
        previous_status=LedgerStatus.VOIDED if voided else LedgerStatus.SETTLED,
        new_status=LedgerStatus.PENDING,
        result=None,
        reason=reason,
        rests_on=market.rests_on,
        settled_by=settled_by,
        first_opened_at=market.first_opened_at,
    )
    opened = replace(
        market,
        status=SUSPENDED,
        reason=reason,
        result=None,
        void_reason_id=None,
        rests_on=(),
    )
    return opened, entry


def void_window_entry(
    market: Market,
    window: VoidWindow,
    reason: str,
    *,
    void_reason_id: int | None = None,
    rests_on: tuple[int, ...] = (),
    settled_by: SettledBy = "engine",
    rolled_back: bool = False,
) -> LedgerEntry:
    """The entry that the bets of a window are void, or no longer void, on a market that stays as it is."""
    status = _LEDGER.get(market.status, LedgerStatus.PENDING)
    return LedgerEntry(
        type_id=market.type_id,
        specifiers=market.specifiers,
        previous_status=status,
        new_status=status,
        result=market.result,
        reason=reason,
        rests_on=rests_on,
        settled_by=settled_by,
        void_reason_id=void_reason_id,
        void_window=window,
        window_rolled_back=rolled_back,
        first_opened_at=market.first_opened_at,
    )


def rests_on_round(market: Market, specifiers: Specifiers) -> bool:
    """Whether a closed market's result follows from what happened in its round. The facts have no events of
    past rounds, so the result holds until an event that it rests on is void."""
    return bool(specifiers.round and market.rests_on and market.void_reason_id != NOT_PLAYED)


def outdated_reason(market: Market, rule: Rule, facts: MatchFacts, specifiers: Specifiers) -> str:
    """Why the settlement of a closed market no longer holds, or ""."""
    if not facts.voided.isdisjoint(market.rests_on):
        return "facts that it rested on are void"
    if rests_on_round(market, specifiers) or waits_for_events(rule, facts, specifiers):
        return ""
    found = settlement_of(rule, facts, specifiers)
    if found is None:
        return "no longer decided"
    return "" if found.result is market.result else "the result has changed"


MarketAndEntry = tuple[Market, LedgerEntry]


def settle_manually(market: Market, *, won: bool, reason: str) -> MarketAndEntry:
    """Settle an open market as won or lost."""
    _require_open(market)
    return settle(market, Settlement(Result.WON if won else Result.LOST, (), reason), "admin")


def void_manually(market: Market, void_reason_id: int, reason: str) -> MarketAndEntry:
    """Void an open market for a reason of the catalogue."""
    _require_open(market)
    return settle(market, Settlement(Result.VOID, (), reason, void_reason_id), "admin")


def roll_back_manually(market: Market, reason: str) -> MarketAndEntry:
    """Roll back a settlement or a void, made by the engine or by an operator."""
    if not market.closed:
        raise Conflict(f"{market_name(market)} is {_state(market)}: there is nothing to roll back.")
    return roll_back(market, reason, "admin")


def void_bets(market: Market, window: VoidWindow, void_reason_id: int, reason: str) -> MarketAndEntry:
    """Void the bets of a window; the market stays as it is, open or not."""
    return market, void_window_entry(
        market, window, reason, void_reason_id=void_reason_id, settled_by="admin"
    )


def restore_bets(market: Market, window: VoidWindow, reason: str) -> MarketAndEntry:
    """Roll back the void of a window's bets, made by the engine or by an operator."""
    return market, void_window_entry(market, window, reason, settled_by="admin", rolled_back=True)


def market_name(market: Market) -> str:
    """The market's name in error messages."""
    return f"Market {market.type_id} {market.specifiers}".rstrip()


def _require_open(market: Market) -> None:
    if not market.open:
        raise Conflict(f"{market_name(market)} is {_state(market)}; roll it back first.")


def _state(market: Market) -> str:
    return market.status.name.lower()
