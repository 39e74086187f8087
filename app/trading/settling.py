"""From verdicts to ledger entries and back. A changed result is always a rollback, then a settlement."""

from msgspec.structs import replace

from app.domain.market import Market, MarketStatus, Result
from app.domain.settlement import LedgerEntry, LedgerStatus, SettledBy, VoidWindow
from app.trading.match_facts import Evidence
from app.trading.rules import NO_RESULT, NOT_PLAYED, Rule, Verdict, void
from app.trading.specifiers import Spec

_LEDGER = {MarketStatus.SETTLED: LedgerStatus.SETTLED, MarketStatus.CANCELLED: LedgerStatus.VOIDED}
CLOSED = tuple(_LEDGER)


def verdict(rule: Rule, evidence: Evidence, spec: Spec) -> Verdict | None:
    """What the facts decide, if the format that it depends on is known."""
    if rule.by_format and evidence.format_open(spec.map):
        return void(NO_RESULT, (), "the format of the map was never known") if evidence.cancelled else None
    return _decided(rule, evidence, spec)


def _decided(rule: Rule, evidence: Evidence, spec: Spec) -> Verdict | None:
    """The type's own rule first, then what can no longer take place is void."""
    return rule.settle(evidence, spec) or _never(evidence, spec)


def _never(evidence: Evidence, spec: Spec) -> Verdict | None:
    if evidence.unseen((spec.map, spec.round)):
        return void(NO_RESULT, (), "how this round ended is not known")
    play = evidence.plays.get(spec.map)
    ended = play is not None and play.status == "finished"
    if not ended and not evidence.over:
        return None
    played = evidence.rounds.get((spec.map, spec.round))
    if played:
        return void(NO_RESULT, (played.id,), "what happened in this round is not known")
    if evidence.cancelled and not ended:
        return void(NOT_PLAYED, (), "the match was cancelled")
    return void(NOT_PLAYED, (play.end_id,) if play and play.end_id is not None else (), "it was not played")


def settle(market: Market, found: Verdict, settled_by: SettledBy = "engine") -> tuple[Market, LedgerEntry]:
    """Close an open market. It is a resettlement when it had been settled before."""
    voided = found.result is Result.VOID
    entry = LedgerEntry(
        type_id=market.type_id,
        specifiers=market.specifiers,
        previous_status=LedgerStatus.PENDING,
        new_status=LedgerStatus.VOIDED if voided else LedgerStatus.SETTLED,
        outcome=found.result,
        reason=found.reason,
        rests_on=found.rests_on,
        settled_by=settled_by,
        is_resettlement=bool(market.settled_by),
        void_reason_id=found.void_reason_id,
    )
    closed = replace(
        market,
        status=MarketStatus.CANCELLED if voided else MarketStatus.SETTLED,
        reason=found.reason,
        result=found.result,
        void_reason_id=found.void_reason_id,
        rests_on=found.rests_on,
        settled_by=settled_by,
    )
    return closed, entry


def roll_back(market: Market, reason: str, settled_by: SettledBy = "engine") -> tuple[Market, LedgerEntry]:
    """Take a settlement or a void back; the market is open again, and suspended until it is priced."""
    voided = market.status is MarketStatus.CANCELLED
    entry = LedgerEntry(
        type_id=market.type_id,
        specifiers=market.specifiers,
        previous_status=LedgerStatus.VOIDED if voided else LedgerStatus.SETTLED,
        new_status=LedgerStatus.PENDING,
        outcome=None,
        reason=reason,
        rests_on=market.rests_on,
        settled_by=settled_by,
    )
    opened = replace(
        market,
        status=MarketStatus.SUSPENDED,
        reason=reason,
        result=None,
        void_reason_id=None,
        rests_on=(),
    )
    return opened, entry


def about_bets(
    market: Market,
    window: VoidWindow,
    reason: str,
    *,
    void_reason_id: int | None = None,
    rests_on: tuple[int, ...] = (),
    settled_by: SettledBy = "engine",
    rolled_back: bool = False,
) -> LedgerEntry:
    """That the bets of a window are void, or void no more, on a market that stays as it is."""
    status = _LEDGER.get(market.status, LedgerStatus.PENDING)
    return LedgerEntry(
        type_id=market.type_id,
        specifiers=market.specifiers,
        previous_status=status,
        new_status=status,
        outcome=market.result,
        reason=reason,
        rests_on=rests_on,
        settled_by=settled_by,
        void_reason_id=void_reason_id,
        void_window=window,
        window_rolled_back=rolled_back,
    )


def outdated(market: Market, rule: Rule, evidence: Evidence, spec: Spec) -> str:
    """Why the settlement of a closed market no longer holds, or ""."""
    if not evidence.voided.isdisjoint(market.rests_on):
        return "facts that it rested on are void"
    # The events of past rounds are gone from the evidence: what rests on them stands until they are void.
    if spec.round and market.rests_on and market.void_reason_id != NOT_PLAYED:
        return ""
    found = _decided(rule, evidence, spec)
    if found is None:
        return "no longer decided"
    return "" if found.result is market.result else "the result has changed"
