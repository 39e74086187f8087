"""Accidents of a replay: messages are withheld, repeated or exchanged; none is invented.

An outage ends with what a recovery would replay: first what was withheld of settlements, voids, rollbacks and
fixture changes, as it was, then for each match one `odds_change` with the newest state of each market that
changed, and of the match.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from app.amqp.envelope import ODDS
from app.amqp.frames import AmqpMessage
from app.domain.replay import Accident, AccidentKind
from app.store.changes import BET_STOP, PUBLISHED, ChangeRow


class Accidents:
    """Every message of a replay passes through `pass_on`, the first one of this run having the index `index`.
    `present_odds` renders the odds of rows as a recovery would."""

    def __init__(
        self,
        accidents: Sequence[Accident],
        present_odds: Callable[[Sequence[ChangeRow]], AmqpMessage],
        index: int,
    ) -> None:
        self._accidents, self._present_odds, self._index = accidents, present_odds, index
        self._exchanged: list[AmqpMessage] = []
        self._results: list[AmqpMessage] = []
        self._newest: dict[UUID, dict[str, ChangeRow]] = {}

    @property
    def withholding(self) -> bool:
        """Whether a message that passed is not published yet."""
        return bool(self._exchanged or self._results or self._newest)

    def pass_on(self, rows: Sequence[ChangeRow], message: AmqpMessage) -> list[AmqpMessage]:
        """What is published now that this message, made from these rows, comes."""
        kind = next((one.kind for one in self._accidents if one.holds(self._index)), None)
        self._index += 1
        if kind is AccidentKind.OUTAGE:
            self._withhold(rows, message)
            return self._after_exchange()
        before = self._after_outage()
        if kind is AccidentKind.DISORDER:
            return [*before, *self._exchange(message)]
        before += self._after_exchange()
        return [*before, message, message] if kind is AccidentKind.DUPLICATES else [*before, message]

    def end(self) -> list[AmqpMessage]:
        """What is still withheld when the last message has passed."""
        return [*self._after_outage(), *self._after_exchange()]

    def _exchange(self, message: AmqpMessage) -> list[AmqpMessage]:
        if not self._exchanged:
            self._exchanged = [message]
            return []
        return [message, *self._after_exchange()]

    def _after_exchange(self) -> list[AmqpMessage]:
        released, self._exchanged = self._exchanged, []
        return released

    def _withhold(self, rows: Sequence[ChangeRow], message: AmqpMessage) -> None:
        if rows[-1].entity == BET_STOP:
            return  # the odds say the same
        if message.routing_key.split(".")[3] != ODDS:
            self._results.append(message)
            return
        of_match = self._newest.setdefault(rows[-1].match_id, {})
        for row in rows:
            if row.entity == "match":
                of_match[""] = row
            elif row.entity in PUBLISHED:
                of_match[row.key.partition(" ")[2]] = row
            elif row.entity == "market":
                of_match[row.key] = row

    def _after_outage(self) -> list[AmqpMessage]:
        odds = [
            self._present_odds(sorted(of_match.values(), key=lambda row: row.seq))
            for of_match in self._newest.values()
            if of_match
        ]
        released = [*self._results, *odds]
        self._results, self._newest = [], {}
        return released
