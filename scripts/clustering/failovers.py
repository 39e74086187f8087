"""What a fail-over of the database costs, with asynchronous and with synchronous replication: the second part
of `nox -s cluster`, some five minutes.

For each way: starts a cluster, a simulated match day, a bookmaker and a recorder of its messages. With
asynchronous replication the standby is cut off from the primary first, so that it lacks what is published
then. The primary is cut off from everyone and the standby promoted. Prints a table; ends with an error if a
number means two things, if the book did not become equal to REST, or if more was lost than the alert names.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence
from time import time

import msgspec

from scripts.clustering.bookmaker import EXCHANGE, Bookmaker, described, match_day, tenant
from scripts.clustering.drill import QUIET_SECONDS
from scripts.lab import cluster, databases, faults, record
from scripts.lab.evidence import Delivery
from scripts.lab.feed_client import FeedClient
from scripts.lab.hosts import DATABASES
from scripts.lab.operators import Account
from scripts.lab.record import HOME, Record
from scripts.local_services.output import print_line

_LAG_SECONDS = 10.0
_FOUND = HOME / "failover.json"
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
    if cluster.on_client():
        _FOUND.write_bytes(msgspec.json.encode(asyncio.run(_fail_over(record.present()))))
        return
    outcomes = []
    for synchronous in (False, True):
        with cluster.running(synchronous=synchronous):
            if status := cluster.run_on_client("scripts.clustering.failovers"):
                raise SystemExit(status)
            outcomes.append(msgspec.json.decode(_FOUND.read_bytes(), type=Outcome))
    print_line(_table(outcomes))
    for each in outcomes:
        print_line(f"{_name(each)}: {each.alert}")
    if not all(each.is_right for each in outcomes):
        raise SystemExit("a fail-over lost or invented something that it should not have")


async def _fail_over(made: Record) -> Outcome:
    match_day(made)
    description = described()
    mine = tenant(description)
    account = Account(mine["slug"], mine["amqp_url"], mine["api_key"], EXCHANGE)
    recorder = FeedClient(account, description["base_url"])
    async with Bookmaker(description) as bookmaker:
        await bookmaker.seconds_until_equal(time())
        await asyncio.sleep(QUIET_SECONDS)
        if not made.synchronous:
            faults.cut(made, *DATABASES)
            await asyncio.sleep(_LAG_SECONDS)
        began = time()
        await asyncio.to_thread(faults.isolate, made, made.primary)
        await asyncio.to_thread(made.kill, made.primary)
        await asyncio.to_thread(cluster.promote, made)
        promoted = time()
        equal = await bookmaker.seconds_until_equal(promoted)
        await asyncio.sleep(QUIET_SECONDS)
        await recorder.close()
        return _outcome(made, recorder.deliveries, bookmaker, began, equal)


def _outcome(
    made: Record, deliveries: Sequence[Delivery], bookmaker: Bookmaker, began: float, equal: float | None
) -> Outcome:
    row = databases.run(made, made.primary, _ROW, "matchfeed").split("|")
    head, mark, known = (int(each) for each in row)
    numbers = by_number(deliveries)
    lost = [seq for seq in numbers if head < seq < mark]
    differences = [look.differences for look in bookmaker.looks if look.differences is not None]
    return Outcome(
        synchronous=made.synchronous,
        received=len(numbers),
        lost=len(lost),
        repeated=sum(len(bodies) - 1 for bodies in numbers.values()),
        contradicting=sum(len(set(bodies)) > 1 for bodies in numbers.values()),
        named=known >= max(lost, default=0),
        invented=differences[-1],
        equal=equal,
        silence=bookmaker.silence(began),
        alert=databases.run(made, made.primary, _ALERT, "matchfeed"),
    )


def by_number(deliveries: Sequence[Delivery]) -> dict[int, list[bytes]]:
    """The bodies of all live messages that came with each number."""
    found = defaultdict[int, list[bytes]](list)
    for each in deliveries:
        if each.live:
            found[each.number].append(each.body)
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
