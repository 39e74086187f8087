"""Which tests run which lines, and how long they take: recorded once, by coverage.py and pytest."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from coverage import CoverageData

_SECONDS, _TESTS = 8.0, 20  #: of the tests that judge one mutant
_OPTIONS = ("-q", "--hypothesis-profile=gate", "-p", "no:randomly", "-p", "tests.mutants.contexts")
_DATA, _REPORT = "coverage", "tests.xml"
_RC = """[run]
branch = False
source = {source}
data_file = {data}
"""


class Nearest:
    """The tests of each line, the nearest first.

    A test is near to a line if it runs it, and little else. Lines that run when their module is imported
    belong to all tests of the module.
    """

    def __init__(self, directory: Path) -> None:
        """Of what `record` wrote to the directory."""
        data = CoverageData(str(directory / _DATA))
        data.read()
        self._seconds = _durations(directory / _REPORT)
        self._of_line: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._of_file: dict[str, Counter[str]] = defaultdict(Counter)
        self._size: Counter[str] = Counter()
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                known = self._seconds.keys() & contexts
                self._of_line[file, line] = known
                self._of_file[file].update(known)
                self._size.update(known)

    def tests(self, path: Path, line: int) -> list[str]:
        """Their node ids; none if no test reaches the module."""
        file = str(path)
        found = self._of_line[file, line] or set(self._of_file[file])
        inside = self._of_file[file]
        chosen: list[str] = []
        seconds = 0.0
        for each in sorted(found, key=lambda test: (-inside[test] / self._size[test], test)):
            if not chosen or (len(chosen) < _TESTS and seconds + self._seconds[each] <= _SECONDS):
                chosen.append(each)
                seconds += self._seconds[each]
        return chosen


def record(root: Path, packages: Iterable[Path], directory: Path, tests: Iterable[str]) -> None:
    """Run the tests, each of which must not depend on another; those that fail judge no mutant."""
    directory.mkdir(parents=True, exist_ok=True)
    rc = directory / "coveragerc"
    rc.write_text(_RC.format(source=",".join(map(str, packages)), data=directory / _DATA))
    subprocess.run(
        [sys.executable, "-m", "coverage", "run", f"--rcfile={rc}", "-m", "pytest", *_OPTIONS]
        + [f"--junitxml={directory / _REPORT}", "-o", "junit_family=xunit1", *tests],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(root), str(root / "scripts/client")))},
        check=False,
    )


def _durations(report: Path) -> dict[str, float]:
    """Seconds of each test function that passed, all its cases together."""
    seconds: dict[str, float] = defaultdict(float)
    failed: set[str] = set()
    for case in ElementTree.parse(report).iter("testcase"):
        file, module = case.get("file") or "", (case.get("file") or "").removesuffix(".py").replace("/", ".")
        inner = (case.get("classname") or "").removeprefix(module).strip(".").split(".")
        name = (case.get("name") or "").partition("[")[0]
        test = "::".join((file, *filter(None, inner), name))
        seconds[test] += float(case.get("time") or 0)
        if len(case):
            failed.add(test)
    return {test: took for test, took in seconds.items() if test not in failed}
