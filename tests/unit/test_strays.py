"""A stray exception of one test, which no test waits for, fails that test and no other."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_HEAD = """
import asyncio
from collections.abc import AsyncIterator

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def value() -> AsyncIterator[int]:
    yield 7


def fail() -> None:
    raise ConnectionResetError("stray")


async def fail_later() -> None:
    fail()


@pytest.fixture(scope="session")
async def shared() -> AsyncIterator[int]:
    yield 7


async def test_shared(shared: int) -> None:
    assert shared == 7
"""
_STRAYS = {
    "callback": "asyncio.get_running_loop().call_soon(fail)",
    "task": "asyncio.get_running_loop().create_task(fail_later())",
}
#: Where a stray exception can meet anyio's runner. The task group is what a fixture leaves open in the
#: runner's own task when its set-up is refused.
_PLACES = {
    "test": """
async def test_planted_{name}() -> None:
    {stray}
    await asyncio.sleep(0.01)
""",
    "set_up": """
@pytest.fixture
async def {name}() -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(asyncio.Event().wait())
        {stray}
        await asyncio.sleep(0.01)
        yield
        waiting.cancel()


async def test_planted_{name}({name}: None) -> None:
    pass
""",
    "teardown": """
@pytest.fixture
async def {name}() -> AsyncIterator[None]:
    yield
    {stray}
    await asyncio.sleep(0.01)


async def test_planted_{name}({name}: None) -> None:
    pass
""",
    "cancellation": """
async def test_planted_{name}() -> None:
    {stray}
    await asyncio.sleep(0.01)
    raise asyncio.CancelledError
""",
}
_LATER = """

async def test_after_{name}(value: int) -> None:
    await asyncio.sleep(0)
    assert value == 7

"""


def run(file: Path) -> dict[str, str]:
    """How each test of a file went, under the rule that this suite is run by."""
    command = [sys.executable, "-m", "pytest", str(file), "-c", str(ROOT / "pyproject.toml"), "-n0", "-rA"]
    plugins = ["-p", "tests.support.own_loops", "-p", "no:randomly", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [*command, *plugins, "--rootdir", str(file.parent)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    reported = [line.split()[:2] for line in ended.stdout.splitlines()]
    ways: dict[str, str] = {}
    for way, name in (
        each for each in reported if len(each) == 2 and each[0] in ("PASSED", "FAILED", "ERROR")
    ):
        if ways.get(name) != "ERROR":  # one in teardown comes beside the test's own result
            ways[name] = way
    assert ways, ended.stdout + ended.stderr
    return {name.rpartition("::")[2].partition(" ")[0]: way for name, way in ways.items()}


def test_it_fails_its_own_test_alone(tmp_path: Path) -> None:
    """A fixture that is shared comes first: it would hold one event loop for all of them."""
    names = {f"{place}_{stray}": (place, stray) for place, stray in product(_PLACES, _STRAYS)}
    file = tmp_path / "test_some.py"
    planted = (
        _PLACES[place].format(name=name, stray=_STRAYS[stray]) + _LATER.format(name=name)
        for name, (place, stray) in names.items()
    )
    file.write_text(_HEAD + "".join(planted))
    ways = run(file)
    assert ways.pop("test_shared") == "ERROR", "an event loop that tests share is refused"
    assert {ways.pop(f"test_planted_{name}") for name in names} <= {"FAILED", "ERROR"}
    assert ways == {f"test_after_{name}": "PASSED" for name in names}
