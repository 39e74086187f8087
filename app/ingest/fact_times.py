"""The times of a batch's facts: after the batch before it, at whatever speed the log is played."""

from collections.abc import Sequence

from msgspec.structs import replace

from app.domain.facts import Fact


def fit_between(facts: Sequence[Fact], after: int, until: int) -> list[Fact]:
    """The facts with their times (ms) scaled into `after` … `until`.

    The facts of a batch that arrives at the speed of play are in that interval already and stay unchanged.
    A batch that covers more of the source's seconds than have passed here (a log played faster, a backlog)
    would otherwise have facts earlier than those of the batch before it.
    """
    first = min((fact.at for fact in facts), default=until)
    if first >= after or until <= after:
        return [replace(fact, at=max(fact.at, after)) if fact.at < after else fact for fact in facts]
    scale = (until - after) / (until - first)
    return [replace(fact, at=until - round((until - fact.at) * scale)) for fact in facts]
