"""See the package: `nox -s mutants`."""

import argparse
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts import services
from tests.mutants.changes import UNCHANGED, Mutant, mutants
from tests.mutants.nearest import Nearest, record

ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = ROOT / "var" / "mutants"
PACKAGES = ("domain", "trading", "amqp", "recovery")
TESTS = (
    *(f"tests/unit/{each}" for each in PACKAGES),
    "tests/integration/channels",
    "tests/integration/recovery",
)
_LIMIT_SECONDS = 120


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--packages", nargs="+", default=PACKAGES, help="of app/")
    parser.add_argument("--sample", type=int, default=400, help="mutants in all, as many of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="+", default=TESTS)
    parser.add_argument("--recorded", action="store_true", help="use what the last run recorded of the tests")
    chosen = parser.parse_args()
    folders = [ROOT / "app" / each for each in chosen.packages]
    size = chosen.sample // len(folders)
    with services.running(services.BENCHMARKS):
        os.environ[services.SHARED] = "running"
        if not chosen.recorded:
            record(ROOT, folders, DIRECTORY, chosen.tests)
        sample = [each for folder in folders for each in _sample(folder, size, chosen.seed)]
        _report(sample, Nearest(DIRECTORY))


def _sample(folder: Path, size: int, seed: int) -> list[Mutant]:
    found = [each for path in sorted(folder.rglob("*.py")) for each in mutants(path)]
    return random.Random(seed).sample(found, min(size, len(found)))


def _report(sample: Sequence[Mutant], nearest: Nearest) -> None:
    """Print the mutants that nothing notices as they are found, then how many of each package are killed."""
    tests = [nearest.tests(mutant.path, mutant.line) for mutant in sample]
    first = next(place for place, found in enumerate(tests) if found)
    if not _passes(sample[first].path, UNCHANGED, tests[first]):
        sys.exit(f"mutants: without a change these fail already: {' '.join(tests[first])}")
    killed, of = Counter[str](), Counter[str]()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        survived = pool.map(lambda mutant, near: _passes(mutant.path, mutant.number, near), sample, tests)
        for mutant, near, alive in zip(sample, tests, survived, strict=True):
            package = mutant.path.relative_to(ROOT / "app").parts[0]
            of[package] += 1
            killed[package] += not alive
            if alive:
                where = f"{mutant.path.relative_to(ROOT)}:{mutant.line} ({len(near)} tests)"
                print(f"survived {where}: {' '.join(mutant.change.split())[:150]}", flush=True)
    for package in of:
        print(f"{package}: {killed[package]} of {of[package]} killed")
    print(f"{killed.total()} of {of.total()} killed")


def _passes(path: Path, number: int, tests: Sequence[str]) -> bool:
    """Whether all these tests pass with that mutant of the module, and end."""
    if not tests:
        return True
    command = [sys.executable, "-m", "tests.mutants.judge", str(path), str(number), *tests]
    client = os.pathsep.join((str(ROOT), str(ROOT / "scripts/client")))
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": client},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    main()
