"""Tests that start processes run one after the other."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_HOOK = """
from tests.support.scheduler import FileScheduling


def pytest_xdist_make_scheduler(config, log):
    return FileScheduling(config, log)
"""
_TEST = """
import os
import pytest

@pytest.mark.parametrize("number", range(8))
def test_it(number):
    with open({place!r}, "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


def test_two_workers_share_no_group(tmp_path: Path) -> None:
    """xdist once lost its groups without a word."""
    (tmp_path / "conftest.py").write_text(_HOOK)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for folder in ("e2e", "faults", "unit"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
        source = _TEST.format(place=str(tmp_path / f"{folder}.txt"))
        (tmp_path / "tests" / folder / f"test_{folder}.py").write_text(source)
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "2", "tests"],
        cwd=tmp_path,
        env=others | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ran = {name: (tmp_path / f"{name}.txt").read_text().split() for name in ("e2e", "faults", "unit")}
    assert {name: len(each) for name, each in ran.items()} == {"e2e": 8, "faults": 8, "unit": 8}
    assert len({*ran["e2e"], *ran["faults"]}) == 1 and len(set(ran["unit"])) == 1
