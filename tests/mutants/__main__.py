"""See the package: `nox -s mutants`."""

import argparse
import importlib.abc
import importlib.machinery
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, ModuleType

import hypothesis.strategies
import msgspec
import pytest

from scripts import services
from tests.mutants.changes import Mutant, mutants
from tests.mutants.nearest import Nearest, record

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("domain", "trading", "amqp", "recovery")
TESTS = (
    *(f"tests/unit/{each}" for each in PACKAGES),
    "tests/integration/channels",
    "tests/integration/recovery",
)
_LIMIT_SECONDS = 90
#: Imported before processes split off, so that none does it again.
_IMPORTED = (pytest, msgspec, hypothesis.strategies)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--packages", nargs="+", default=PACKAGES, help="of app/")
    parser.add_argument("--sample", type=int, default=400, help="mutants in all, as many of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="+", default=TESTS)
    chosen = parser.parse_args()
    folders = [ROOT / "app" / each for each in chosen.packages]
    with services.running(services.BENCHMARKS):
        os.environ[services.SHARED] = "running"
        nearest = record(ROOT, folders, ROOT / "var" / "mutants", chosen.tests)
        size = chosen.sample // len(folders)
        _report([each for folder in folders for each in _sample(folder, size, chosen.seed)], nearest)


def _report(sample: Sequence[Mutant], nearest: Nearest) -> None:
    """Print the mutants that nothing notices as they are found, then how many of each package are killed."""
    killed, of = Counter[str](), Counter[str]()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        judged = pool.map(lambda mutant: _killed(mutant, nearest), sample)
        for mutant, dead in zip(sample, judged, strict=True):
            package = mutant.path.relative_to(ROOT / "app").parts[0]
            of[package] += 1
            killed[package] += dead
            if not dead:
                where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
                print(f"survived {where} {' '.join(mutant.change.split())[:150]}", flush=True)
    for package in of:
        print(f"{package}: {killed[package]} of {of[package]} killed")
    print(f"{killed.total()} of {of.total()} killed")


def _sample(folder: Path, size: int, seed: int) -> list[Mutant]:
    found = [each for path in sorted(folder.rglob("*.py")) for each in mutants(path)]
    return random.Random(seed).sample(found, min(size, len(found)))


def _killed(mutant: Mutant, nearest: Nearest) -> bool:
    """Whether one of the nearest tests fails, or does not end."""
    tests = nearest.tests(mutant.path, mutant.line)
    if not tests:
        return False
    try:
        code = mutant.code()
    except SyntaxError:
        return True
    child = os.fork()
    if not child:
        _judge(mutant, code, tests)
    return os.waitpid(child, 0)[1] != 0


def _judge(mutant: Mutant, code: CodeType, tests: Sequence[str]) -> None:
    """In a process of its own: run the tests with the changed module in the place of the real one."""
    signal.alarm(_LIMIT_SECONDS)  # its default action ends the process
    os.chdir(ROOT)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.path[:0] = [str(ROOT), str(ROOT / "scripts/client")]
    sys.meta_path.insert(0, _Finder(mutant.path, code))
    options = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--hypothesis-profile=gate")
    os._exit(int(pytest.main([*options, *tests])))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the one module, with the changed code."""

    def __init__(self, path: Path, code: CodeType) -> None:
        self._path, self._code = path, code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if found is None or found.origin != str(self._path):
            return None
        found.loader = _Loader(fullname, str(self._path), self._code)
        return found


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


if __name__ == "__main__":
    main()
