"""What a fail-over of the database costs, with asynchronous and with synchronous replication: the second part
of `nox -s cluster`, some five minutes.

For each way: starts a cluster, a simulated match day, a bookmaker and a recorder of its messages. With
asynchronous replication the standby is cut off from the primary first, so that it lacks what is published
then. The primary is cut off from everyone and the standby promoted. Prints a table; ends with an error if a
number means two things, if the book did not become equal to REST, or if more was lost than the alert names.
"""

import argparse
import sys
from collections import defaultdict
from time import sleep, time

import msgspec

from scripts.lab import databases, faults, record
from scripts.lab.hosts import CLIENT, DATABASES
from scripts.lab.record import HOME, Record
from scripts.local_services.output import print_line

from .drill import QUIET_SECONDS, SLUG, command, looks, match_day, wait_equal

_LAG_SECONDS = 10.0
_DIGITS = 64  #: of a digest
_NUMBERS = HOME / "log" / "recorder.txt"
_RECORDER = [sys.executable, "-m", "scripts.clustering.recorder", SLUG]
_ROW = "SELECT head, mark, known_seq FROM database_timeline"
_ALERT = "SELECT detail FROM alert WHERE kind = 'database_failover' AND ended_at IS NULL"


class Outcome(msgspec.Struct, frozen=True):
    """Of messages with a number: how many were received, how many of those the promoted server did not know,
    how many were received more than once, how many numbers meant two things. `named`: the alert names all
    that was lost. Seconds from the promotion until the book equals REST again with open markets (None: not in
    time), and the longest silence of the feed. `invented`: differences of book and service at the end."""

    synchronous: bool
    received: int
    lost: int
    repeated: int
    contradicting: int
    named: bool
    invented: int
    equal: float | None
    silence: float
    alert: str

    @property
    def is_right(self) -> bool:
        kept = not (self.synchronous and self.lost)
        return kept and self.named and not self.contradicting and not self.invented and self.equal is not None


def main() -> None:
    argparse.ArgumentParser(prog="python -m scripts.clustering.failovers", description=__doc__).parse_args()
    outcomes = [_try(synchronous=each) for each in (False, True)]
    print_line(_table(outcomes))
    for each in outcomes:
        print_line(f"{_name(each)}: {each.alert}")
    if not all(each.is_right for each in outcomes):
        raise SystemExit("a fail-over lost or invented something that it should not have")


def _try(*, synchronous: bool) -> Outcome:
    command("cluster could not be started", *(["--synchronous"] if synchronous else []))
    try:
        made = record.present()
        match_day(made)
        made.launch(CLIENT, "recorder", _RECORDER, _NUMBERS)
        wait_equal(time())
        sleep(QUIET_SECONDS)
        if not synchronous:
            faults.cut(made, *DATABASES)
            sleep(_LAG_SECONDS)
        began = time()
        faults.isolate(made, made.primary)
        command("promote", "promote")
        promoted = time()
        equal = wait_equal(promoted)
        sleep(QUIET_SECONDS)
        return _outcome(record.present(), began, equal)
    finally:
        command("cluster could not be ended", "--stop")


def _outcome(made: Record, began: float, equal: float | None) -> Outcome:
    row = databases.run(made, made.primary, _ROW, "matchfeed").split("|")
    head, mark, known = (int(each) for each in row)
    numbers = read_numbers(_NUMBERS.read_text())
    lost = [seq for seq in numbers if head < seq < mark]
    differences = [look.differences for look in looks() if look.differences is not None]
    return Outcome(
        synchronous=made.synchronous,
        received=len(numbers),
        lost=len(lost),
        repeated=sum(len(digests) - 1 for digests in numbers.values()),
        contradicting=sum(len(set(digests)) > 1 for digests in numbers.values()),
        named=known >= max(lost, default=0),
        invented=differences[-1],
        equal=equal,
        silence=max((look.silence for look in looks() if look.at > began), default=0.0),
        alert=databases.run(made, made.primary, _ALERT, "matchfeed"),
    )


def read_numbers(output: str) -> dict[int, list[str]]:
    """The digests of all messages that the recorder received with each number. Its log has other lines, too,
    and the last one may be incomplete."""
    found = defaultdict[int, list[str]](list)
    for line in output.splitlines():
        seq, _, digest = line.partition(" ")
        if seq.isdigit() and len(digest) == _DIGITS:
            found[int(seq)].append(digest)
    return found


def _name(outcome: Outcome) -> str:
    return "synchronous" if outcome.synchronous else "asynchronous"


def _table(outcomes: list[Outcome]) -> str:
    head = (
        "| replication | received | lost | all of it named | invented | repeated | with two meanings "
        "| equal after, s | longest silence, s |\n|---|---|---|---|---|---|---|---|---|"
    )
    rows = [
        f"| {_name(each)} | {each.received} | {each.lost} | {'yes' if each.named else 'NO'} "
        f"| {each.invented} | {each.repeated} | {each.contradicting} | {each.equal} | {each.silence} |"
        for each in outcomes
    ]
    return "\n".join([head, *rows])


if __name__ == "__main__":
    main()
