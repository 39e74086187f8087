"""Where a batch's facts lie in time: after the batch before it, whatever pace the log is played at."""

from collections.abc import Sequence

from msgspec.structs import replace

from app.domain.facts import Fact


def between(facts: Sequence[Fact], after: int, until: int) -> list[Fact]:
    """The facts with their times (ms) pressed into `after` … `until`, in proportion.

    A batch that arrives at the pace of play lies there already and stays as it is. One that covers more
    of the source's seconds than have passed here (a log played faster, a backlog) would otherwise reach
    back behind facts that are known already.
    """
    first = min((fact.at for fact in facts), default=until)
    if first >= after or until <= after:
        return [replace(fact, at=max(fact.at, after)) if fact.at < after else fact for fact in facts]
    scale = (until - after) / (until - first)
    return [replace(fact, at=until - round((until - fact.at) * scale)) for fact in facts]
