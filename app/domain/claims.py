"""Claims: a tenant states that the result of a market is wrong.

    state        step of the tenant    step of an operator
    ─────────    ──────────────────    ─────────────────────────────────────────────────────────
    open         withdraw              take; answer → answered; uphold → corrected, or → upheld
    upheld                             take; consent → corrected; without a command that waits for
                                       consent: answer → answered; uphold again
    answered, corrected, withdrawn: nothing more

A claim contests one entry of the ledger. It is upheld only while that entry is still the one that says the
market's result: what was changed meanwhile is not changed once more.
"""

from collections.abc import Iterable
from enum import StrEnum
from uuid import UUID

import msgspec

from app.domain.market import MarketKey, Result, market_name
from app.domain.settlement import LedgerEntry, LedgerStatus

MAX_REASON, MAX_EVIDENCE = 500, 4_000  #: characters


class ClaimState(StrEnum):
    """`upheld`: we agree, and the correction waits for the consent of a second operator; `answered`: the
    result stands, for the reason in the answer."""

    OPEN = "open"
    UPHELD = "upheld"
    ANSWERED = "answered"
    CORRECTED = "corrected"
    WITHDRAWN = "withdrawn"


#: The states in which somebody must still decide.
UNDECIDED = (ClaimState.OPEN, ClaimState.UPHELD)


class ClaimStep(StrEnum):
    """What happens to a claim; the frame `claim.<step>` says so on the stream, and the audit."""

    OPENED = "opened"
    TAKEN = "taken"
    ANSWERED = "answered"
    UPHELD = "upheld"
    CORRECTED = "corrected"
    WITHDRAWN = "withdrawn"

    @property
    def frame(self) -> str:
        """The type of its frame."""
        return f"claim.{self.value}"


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim. `tenant` is the slug, `number` the match's, `entry_id` the ledger entry that it contests,
    which says `result`; `expected` is what the tenant says it should be, for `reason`, with `evidence`;
    `request_id` is the tenant's own. By `deadline_at` it should be answered or corrected. `taken_by` works on
    it. `answered_by` wrote the `answer`, which upheld it or not; `consent_id` is the command that waits, or
    waited, for consent; `correction_id` the ledger entry with the corrected result. Actors as in the audit
    log, times in Unix ms; None: not yet."""

    id: UUID
    tenant_id: UUID
    tenant: str
    match_id: UUID
    number: int
    type_id: int
    specifiers: str
    entry_id: int
    result: Result
    expected: Result
    reason: str
    evidence: str
    request_id: str | None = None
    opened_at: int
    opened_by: str
    deadline_at: int
    state: ClaimState = ClaimState.OPEN
    taken_at: int | None = None
    taken_by: str | None = None
    answer: str = ""
    answered_at: int | None = None
    answered_by: str | None = None
    consent_id: int | None = None
    correction_id: int | None = None
    ended_at: int | None = None

    @property
    def key(self) -> MarketKey:
        return self.type_id, self.specifiers

    @property
    def market(self) -> str:
        """The name of its market within the match."""
        return market_name(*self.key)

    @property
    def undecided(self) -> bool:
        """Whether somebody must still decide."""
        return self.state in UNDECIDED

    def late(self, now: int) -> bool:
        """Whether it is undecided at `now` (Unix ms), past its deadline."""
        return self.undecided and now >= self.deadline_at


class ClaimChange(msgspec.Struct, frozen=True):
    """A claim after a step, without its actors: the body of its row in the change log, from which no person
    can be erased."""

    step: ClaimStep
    claim: Claim


def result_entry(ledger: Iterable[LedgerEntry]) -> LedgerEntry | None:
    """The entry that says the present result of a market, of its entries in order; None while it has none."""
    last = next((each for each in reversed(list(ledger)) if each.void_window is None), None)
    return None if last is None or last.new_status is LedgerStatus.PENDING else last


def result_of(entry: LedgerEntry) -> Result:
    """The result that such an entry says."""
    return entry.result or Result.VOID
