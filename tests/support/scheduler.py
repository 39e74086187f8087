"""How a parallel run distributes tests: those of one file run in one process, one after the other.

What a module sets up is then set up once. xdist's own groups are marks, which `--dist loadgroup` of xdist 3.8
does not find under pytest 9.2 (https://github.com/pytest-dev/pytest-xdist/issues/1386).
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

#: The group of tests that start whole processes and wait for them: side by side they would starve each other.
PROCESSES = "processes"
#: Where they are. The last file makes tenants of the same names on the broker as the demo's tests.
_WITH_PROCESSES = ("tests/e2e/", "tests/faults/", "tests/integration/cli/test_commands.py")
#: What takes longest begins first, so that all workers end at about the same time.
_ORDER = (
    "tests/contract/openapi/test_schemathesis.py",
    "tests/contract/",
    "tests/integration/",
    "tests/unit/trading/",
    "tests/unit/sandbox/",
)


def group(nodeid: str) -> str:
    """The tests with the same group run in one process."""
    file = nodeid.partition("::")[0]
    return PROCESSES if file.startswith(_WITH_PROCESSES) else file


def rank(nodeid: str) -> int:
    """Groups of lower rank are distributed first."""
    if group(nodeid) == PROCESSES:
        return 0
    return next((n for n, folder in enumerate(_ORDER, 1) if nodeid.startswith(folder)), len(_ORDER) + 1)


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Distributes groups in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)
