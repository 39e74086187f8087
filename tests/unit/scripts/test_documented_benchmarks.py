"""What our pages say can be measured, can be: each command runs as it is written, on servers or none."""

import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from scripts import services
from tests.unit.test_pages import PAGES, ROOT, pieces

_MODULE = re.compile(r"python3? -m (scripts\.[\w.]+)(.*)")
_SESSION = re.compile(r"nox -s bench -- (\w+)(.*)")
_OPTION = re.compile(r"--[a-z][a-z-]*")
#: Between two tests a module may have been imported by another; it is run again all the same.
pytestmark = pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """A benchmark logs errors alone; what other tests look for in the log is logged again afterwards."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


class ServersWanted(Exception):
    """A benchmark has come to where it looks for servers."""


def written() -> set[tuple[str, tuple[str, ...]]]:
    """The module and the words after it of every benchmark on our pages."""
    found = set()
    for page in PAGES:
        for piece in pieces(page):
            if found_command := _MODULE.search(piece):
                found.add((found_command[1], tuple(shlex.split(found_command[2].split("`")[0]))))
            elif found_command := _SESSION.search(piece):
                found.add((f"scripts.bench.{found_command[1]}", tuple(shlex.split(found_command[2]))))
    return found


WRITTEN = sorted(written())
MODULES = sorted({module for module, _ in WRITTEN})


def source(module: str) -> Path:
    place = ROOT.joinpath(*module.split("."))
    return place / "__main__.py" if place.is_dir() else place.with_suffix(".py")


def run(module: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [module, *words])
    runpy.run_module(module, run_name="__main__", alter_sys=True)


@pytest.mark.parametrize("module", MODULES)
def test_it_knows_the_options_that_our_pages_use(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(module, ("--help",), monkeypatch)
    assert ended.value.code in (None, 0)
    known = set(_OPTION.findall(capsys.readouterr().out))
    used = {
        option for name, words in WRITTEN if name == module for option in _OPTION.findall(" ".join(words))
    }
    assert known and used <= known


@pytest.mark.parametrize(
    "module", [each for each in MODULES if "configuration.load()" in source(each).read_text()]
)
def test_it_finds_or_starts_its_servers(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is connected to before there are servers: a clean checkout has none."""

    def wanted(_: Path) -> Any:
        raise ServersWanted

    monkeypatch.setattr(services, "running", wanted)
    with pytest.raises(ServersWanted):
        run(module, (), monkeypatch)


def test_pages_name_benchmarks_with_and_without_servers() -> None:
    assert {"scripts.bench.feed", "scripts.bench.xml", "scripts.soak"} <= set(MODULES)
