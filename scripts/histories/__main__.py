"""Histories on a cluster: random matches, operators, tenants and faults, and what came of them.

    nox -s histories -- [--runs 100] [--first 1] [--faults 2] [--only WORDS] [--begin-with WORDS]
                        [--synchronous] [--attempts 0]
    nox -s histories -- --replay var/history-7.json
    nox -s histories -- --table

Starts a cluster, unless one is running. Each history takes one or two minutes. One that breaks is run again
with fewer and fewer steps (`--attempts` times at most), and the shortest that breaks is written to
`var/history-SEED.json`. Every outcome is appended to `var/histories.jsonl`; `--table` prints the last one of
each history. Fails if anything was wrong.
"""

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from app.settings import load
from app.store.connections import open_store
from scripts.histories import outcome
from scripts.histories.history import TENANTS, History, generated
from scripts.histories.run import BUNDLES, Run
from scripts.histories.shortening import shortened
from scripts.lab import cluster, record, recorded_log
from scripts.lab.collection import Collector
from scripts.lab.faults import FAULTS, Fault
from scripts.lab.feed_client import log_no_lost_connections
from scripts.lab.operators import Operators, open_account
from scripts.lab.record import DESCRIPTION, ROOT
from scripts.local_services.output import print_line


def main() -> None:
    options = _options()
    if options.table:
        print(outcome.table(outcome.stored()), end="\n\n")
        print(outcome.pairs_table(outcome.stored()))
        return
    if cluster.on_client():
        raise SystemExit(asyncio.run(_run(options)))
    with cluster.running(synchronous=options.synchronous, reuse=True):
        raise SystemExit(cluster.run_on_client("scripts.histories", sys.argv[1:]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--faults", type=int, default=2, help="how many in each history")
    parser.add_argument("--only", default="", help="faults whose names have these words only")
    parser.add_argument("--begin-with", default="", help="the first fault's name has these words")
    parser.add_argument("--attempts", type=int, default=0, help="runs to shorten a history that breaks")
    parser.add_argument("--synchronous", action="store_true", help="commits wait for the standby")
    parser.add_argument("--replay", type=Path, help="run the history of this file instead")
    parser.add_argument("--table", action="store_true", help="print what all runs so far cost")
    return parser.parse_args()


async def _run(options: argparse.Namespace) -> int:
    """The number of histories that broke."""
    described = msgspec.json.decode(DESCRIPTION.read_bytes())
    settings = load()
    log_no_lost_connections()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            await open_store(settings.database_url, 2, session_name="histories")
        )
        async with store.transaction() as tx:
            await recorded_log.install(tx)
        operators = Operators(
            described["base_url"], described["operator_key"], 10, operator_url=described["operator_url"]
        )
        stack.push_async_callback(operators.close)
        everyone = [await open_account(operators, f"history-{number}", *BUNDLES) for number in range(TENANTS)]
        collector = Collector(store, described["base_url"], settings.exchange, settings.producer_id)
        run = Run(record.present(), operators, collector, described["ws_url"], everyone)
        broken = 0
        for history in _histories(options):
            broken += not await _judged(run, history, options.attempts)
    return broken


def _histories(options: argparse.Namespace) -> list[History]:
    if options.replay:
        return [msgspec.json.decode(options.replay.read_bytes(), type=History)]
    seeds = range(options.first, options.first + options.runs)
    faults, first = _faults(options.only), _faults(options.begin_with)
    if not (faults and first):
        raise SystemExit("no fault that this cluster can have has these words in its name")
    return [generated(seed, faults, options.faults, first) for seed in seeds]


def _faults(words: str) -> list[Fault]:
    made = record.present()
    return [
        each
        for each in FAULTS.values()
        if words in each.name
        and (made.separate or not each.separate)
        and (made.synchronous or not each.synchronous)
    ]


async def _judged(run: Run, history: History, attempts: int) -> bool:
    """Whether nothing was wrong; otherwise the history is shortened and written."""
    found, evidence = await run.play(history)
    outcome.store(found)
    print_line(str(found))
    if not found.findings:
        return True
    file = ROOT / "var" / f"history-{history.seed}.json"
    _write(file.with_suffix(".evidence.json"), evidence)

    async def breaks(shorter: History) -> bool:
        again, _ = await run.play(shorter)
        print_line(f"    with {len(shorter.steps)} steps: {len(again.findings)} findings")
        return bool(again.findings)

    shortest = await shortened(history, breaks, attempts)
    _write(file, shortest)
    print_line(f"    {len(shortest.steps)} steps, in {file}")
    return False


def _write(file: Path, value: History | object) -> None:
    file.write_bytes(msgspec.json.format(msgspec.json.encode(value)))


if __name__ == "__main__":
    main()
