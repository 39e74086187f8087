"""Whether the book differs from what the service has on offer: what is still on its way is no difference."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from scripts.demonstration.report import Check

Difference = tuple[str, int, str, str]  #: match, market, specifiers and kind, as the self-check returns them


class Look(msgspec.Struct, frozen=True):
    """One answer of the self-check at `at` (Unix ms). `found` has each difference and whether the service had
    published about its match what the book had not received, None where it could not know; `seqs` is the last
    `x-seq` received of each match when the self-check was requested."""

    at: int
    markets: int
    matches: int
    found: dict[Difference, bool | None]
    seqs: Mapping[str, int]


def look(data: Any, seqs: Mapping[str, int], at: int) -> Look:
    """The `data` of an answer to a digest that was made when `seqs` had been received."""
    found = {
        (each["match"], each["id"], each["specifiers"], each["kind"]): each.get("behind")
        for each in data["differences"]
    }
    return Look(at, data["markets"], data["matches"], found, dict(seqs))


def verdict(first: Look, second: Look) -> Check | None:
    """The result of two looks, a second apart; None when it is open yet, for there are differences but none
    that is confirmed.

    One is confirmed that both have and that no message on its way explains: the book was not behind at the
    second look, or nothing about the match has been received between the two although something was
    published.
    """
    confirmed = [each for each in second.found if each in first.found and _is_confirmed(each, first, second)]
    if second.found and not confirmed:
        return None
    kinds = Counter(kind for *_, kind in confirmed)
    return Check(second.at, len(confirmed), second.markets, second.matches, dict(kinds))


def _is_confirmed(difference: Difference, first: Look, second: Look) -> bool:
    match, *_ = difference
    return second.found[difference] is False or first.seqs.get(match) == second.seqs.get(match)
