"""Simulated matches with commands, crashes and restores, computed again: is every price and result the same?

    python -m scripts.recomputation [--matches 200] [--first 0]

Plays them into a database of its own, exports each, and recomputes it with nothing but the file. Prints a row
for each match and the sum; fails at the first difference.
"""

import argparse
import asyncio

import uvloop

from app import settings as configuration
from app.commands.match_export import export_match, read_export
from app.ingest.log_update import IngestConfig
from app.kit import logging
from app.recompute.recomputation import recompute
from app.store.connections import open_store
from scripts import services
from scripts.lab.own_data import database
from scripts.lab.traded_match import TradedMatch


async def main(first: int, count: int) -> None:
    logging.configure("recomputation", level="ERROR")
    total = dict.fromkeys(("transactions", "rows", "prices", "entries", "given"), 0)
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 2, 200) as store,
    ):
        for seed in range(first, first + count):
            played = await TradedMatch(store, seed, IngestConfig()).play()
            body = await export_match(store, str(played.match.id), 0)
            found = recompute(read_export(body))
            print(
                f"seed {seed}: {played.match.status}, {found.transactions} transactions,"
                f" {played.commands} commands, {found.prices} prices, {found.entries} results,"
                f" {found.given} given, {len(body) >> 10} KiB",
                flush=True,
            )
            if found.problem is not None:
                raise SystemExit(f"seed {seed}: {found.problem}")
            total = {name: sum_so_far + getattr(found, name) for name, sum_so_far in total.items()}
    print(f"{count} matches: all equal; {', '.join(f'{value} {name}' for name, value in total.items())}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(chosen.first, chosen.matches))
