"""Numbers above all that can have been published by a moment, whatever a restored database knows of them.

Numbers are counted up and never used again. A database that was restored from a backup has forgotten the last
ones: after a restore they go on from the number of the moment, which rises faster than any of them is counted
(docs/decisions/0046). `now` is Unix ms.
"""

_BEGINNING = 1_577_836_800_000  #: 2020-01-01, the moment that has the number 0


def seq_at(now: int) -> int:
    """Of the change log, and of all that 64 bits count: one each microsecond. Exact as a 64-bit
    floating-point number until 2305."""
    return (now - _BEGINNING) * 1000


def number_in_match_at(now: int) -> int:
    """Of what is counted within a match (`next_history_id`, `revision`): one each second, so that 31 bits
    last until 2088."""
    return (now - _BEGINNING) // 1000


def match_number_at(now: int) -> int:
    """Of matches: one every ten seconds."""
    return (now - _BEGINNING) // 10_000
