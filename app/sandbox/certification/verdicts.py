"""What came of each accident, and of all of them: as JSON, and for the page and the certificate."""

from typing import Literal

import msgspec


class Wrong(msgspec.Struct, frozen=True):
    """A market that is wrong: what the client has, what is right, and the last messages about it."""

    market: str
    yours: str
    ours: str
    messages: tuple[str, ...] = ()


class Verdict(msgspec.Struct, frozen=True):
    """`inconclusive`: the accident could not be brought about. `wrong` begins with the market that was wrong
    first; `count` is the number of all."""

    accident: str
    outcome: Literal["passed", "failed", "inconclusive", "not run"]
    seconds: float = 0.0
    text: str = ""
    wrong: tuple[Wrong, ...] = ()
    count: int = 0


class Run(msgspec.Struct, frozen=True):
    """One run: `service` is our version and commit; the accidents are in the order in which they ran, and
    `complete` says whether they are all that the channel has."""

    client: str
    client_version: str
    channel: str
    seed: int
    service: str
    begun: str
    ended: str
    verdicts: tuple[Verdict, ...]
    complete: bool = False

    @property
    def passed(self) -> bool:
        """Whether every accident was brought about, and the client was right after each."""
        return bool(self.verdicts) and all(each.outcome == "passed" for each in self.verdicts)
