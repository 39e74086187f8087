"""Run tests with one mutant in the place of its module, in a process that has imported nothing of ours yet:

    python -m tests.mutants.judge FILE NUMBER TEST...

Exits as pytest does: with 0 if no test notices. Without a mutant of that number the module is as it is.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.mutants.changes import code

_OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--hypothesis-profile=gate")


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
    file, number, *tests = sys.argv[1:]
    sys.meta_path.insert(0, _Finder(Path(file), code(Path(file), int(number))))
    sys.exit(pytest.main([*_OPTIONS, *tests]))
