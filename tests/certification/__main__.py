"""See the package: `nox -s certify`."""

import argparse
import asyncio
import shutil
import sys
from collections.abc import Coroutine, Iterable
from typing import Any

from app import settings
from app.cli.certify_commands import service_config
from app.cli.connections import broker_config
from app.kit.errors import Refusal
from app.sandbox.certification.ending import Interrupted, interruptible
from app.sandbox.certification.run import certify
from app.sandbox.certification.stage import CHANNELS
from scripts import services
from tests.certification.mutants import MUTANTS
from tests.certification.runs import CLIENTS, ROOT, caught, served, wanted

VAR = ROOT / "var" / "certify"


async def _seeds(client: str, seeds: Iterable[int], channels: Iterable[str]) -> bool:
    present, passed, command = settings.load(), True, CLIENTS[client]()
    async with broker_config(present) as broker:
        for seed in seeds:
            for channel in channels:
                print(f"{client}, seed {seed}, {channel}", flush=True)
                directory = VAR / f"{client}-{channel}-{seed}"
                shutil.rmtree(directory, ignore_errors=True)
                run = wanted(channel, directory, command=command, seed=seed)
                passed = (await certify(service_config(present), broker, run)).passed and passed
    return passed


async def _mutants(names: Iterable[str]) -> bool:
    found: dict[str, bool] = {}
    directory = wanted("amqp", VAR / "mutants").directory
    async with served(settings.load(), directory) as (service, operator_key):
        for name in names:
            found[name], _ = await caught(service, operator_key, name, directory)
    for name, good in found.items():
        print(f"{'caught' if good else 'MISSED'} {name}")
    print(f"{len(found) - sum(found.values())} of {len(found)} mutants were not caught")
    return all(found.values())


async def _ending_with_signals(work: Coroutine[Any, Any, bool]) -> bool:
    async with interruptible(lambda text: print(text, file=sys.stderr, flush=True)):
        return await work


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.certification")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--channels", nargs="+", choices=CHANNELS, default=list(CHANNELS))
    parser.add_argument("--client", choices=sorted(CLIENTS), default="python")
    parser.add_argument("--mutants", nargs="*", choices=sorted(MUTANTS), help="these mutants, or all")
    options = parser.parse_args()
    try:
        with services.running(VAR / "services"):
            if options.mutants is None:
                work = _seeds(options.client, options.seeds, options.channels)
            else:
                work = _mutants(options.mutants or MUTANTS)
            good = asyncio.run(_ending_with_signals(work))
    except (Interrupted, Refusal) as error:
        sys.exit(f"certification: {error}")
    except KeyboardInterrupt:
        sys.exit("certification: interrupted before it began")
    sys.exit(not good)


if __name__ == "__main__":
    main()
