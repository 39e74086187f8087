"""What came of a history, as it is stored, one line of JSON each."""

from pathlib import Path

import msgspec

from scripts.lab.record import ROOT

FILE = ROOT / "var" / "histories.jsonl"


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
