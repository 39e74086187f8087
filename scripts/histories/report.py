"""The table of docs/reliability.md: what each fault or pair of faults cost."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from scripts.histories.outcome import Outcome

_HEAD = (
    "| fault or pair of faults | runs | lost | invented | repeated | longest silence, s | time to heal, s |\n"
    "|---|---|---|---|---|---|---|"
)


def table(outcomes: Sequence[Outcome]) -> str:
    """A row for each fault, over all histories that had it, and one for all."""
    by_fault = defaultdict[str, list[Outcome]](list)
    for each in outcomes:
        for fault in each.faults:
            by_fault[fault].append(each)
    rows = [_row(fault, by_fault[fault]) for fault in sorted(by_fault)]
    pairs = {each.faults for each in outcomes if len(each.faults) > 1}
    return "\n".join([_HEAD, *rows, _row(f"all, {len(pairs)} different pairs", outcomes)])


def pairs_table(outcomes: Sequence[Outcome]) -> str:
    """A row for each pair."""
    by_pair = defaultdict[str, list[Outcome]](list)
    for each in outcomes:
        by_pair[" + ".join(each.faults)].append(each)
    return "\n".join([_HEAD, *(_row(pair, by_pair[pair]) for pair in sorted(by_pair))])


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    lost, invented, repeated = (
        sum(getattr(each, what) for each in outcomes) for what in ("lost", "invented", "repeated")
    )
    received = sum(each.received for each in outcomes)
    silence = max((each.silence for each in outcomes), default=0.0)
    healed = [each.heal for each in outcomes if each.heal is not None]
    heal = f"{median(healed):.1f}, {max(healed):.1f} at most" if healed else ""
    if late := len(outcomes) - len(healed):
        heal = "; ".join(filter(None, (heal, f"{late} not in time")))
    counts = f"{lost} | {invented} | {repeated} of {received:,}"
    return f"| {name} | {len(outcomes)} | {counts} | {silence:.1f} | {heal} |"
