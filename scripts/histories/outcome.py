"""What came of a history, as it is stored, one line of JSON each; and the table of docs/reliability.md: what
each fault or pair of faults cost."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec

from scripts.lab.record import ROOT

FILE = ROOT / "var" / "histories.jsonl"
_HEAD = (
    "| fault or pair of faults | runs | lost | invented | repeated | longest silence, s | time to heal, s |\n"
    "|---|---|---|---|---|---|---|"
)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """`received` and `repeated` are live messages, of all tenants; `silence` is the longest time without a
    message, `heal` the time from the end of the last fault until every book equalled REST (None: not in
    time), both in seconds. `findings` is what is wrong."""

    seed: int
    faults: tuple[str, ...]
    steps: int
    matches: int
    received: int
    repeated: int
    lost: int
    invented: int
    silence: float
    heal: float | None
    seconds: float
    findings: tuple[str, ...] = ()

    def __str__(self) -> str:
        end = "\n".join(("", *(f"    {each}" for each in self.findings[:20])))
        return (
            f"{self.seed}: {' + '.join(self.faults)}: {self.received} received, {self.repeated} repeated, "
            f"silent for {self.silence:.1f} s, healed after {self.heal} s, {self.seconds:.0f} s in all, "
            f"{len(self.findings)} findings{end}"
        )


def store(outcome: Outcome, file: Path = FILE) -> None:
    """Append it to the file."""
    file.parent.mkdir(exist_ok=True)
    with file.open("ab") as output:
        output.write(msgspec.json.encode(outcome) + b"\n")


def stored(file: Path = FILE) -> list[Outcome]:
    """Of each history the last outcome that was stored."""
    if not file.exists():
        return []
    found = [msgspec.json.decode(line, type=Outcome) for line in file.read_bytes().splitlines()]
    return list({(each.seed, each.faults): each for each in found}.values())


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
