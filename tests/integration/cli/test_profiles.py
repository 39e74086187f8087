"""Profiles on the command line."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.store.connections import open_store
from tests.support.command_line import Run
from tests.support.profiles import CONTENT, match_with_markets
from tests.support.story import Story

Said = Callable[..., str]


@pytest.fixture
def said(run: Run) -> Said:
    """What a command line prints; it must go well."""

    def run_well(*words: object) -> str:
        found = run(*words)
        assert found.exit_code == 0, found.output
        return str(found.stdout)

    return run_well


@pytest.fixture
def file(tmp_path: Path) -> Callable[[Any], Path]:
    """A file with this content."""

    def write(content: Any) -> Path:
        place = tmp_path / "profile.json"
        place.write_text(json.dumps(content))
        return place

    return write


@pytest.fixture
def in_store(settings: Settings) -> Callable[..., None]:
    """Run a story between commands."""

    def run(tell: Callable[[Story], Any]) -> None:
        async def told() -> None:
            async with await open_store(settings.database_url, 2) as store:
                await tell(Story(store))

        asyncio.run(told())

    return run


def test_a_profile_is_published_given_and_changed(said: Said, file: Callable[[Any], Path]) -> None:
    said("tenant", "create", "delta")
    assert "no profile" in said("profile", "list")
    assert "version 1: published" in said("profile", "publish", "tight", file(CONTENT))
    assert "tight version 1" in said("profile", "assign", "delta", "tight")
    assert "already" in said("profile", "publish", "tight", file(CONTENT))
    other = CONTENT | {"min_move": 0.01}
    published = said("profile", "publish", "tight", file(other), "--based-on", 1)
    assert "version 2: published" in published and "tenant delta has it now" in published
    assert "tenants with it: 1, with an older one: 0" in said("profile", "list")
    shown = said("profile", "show", "tight")
    assert shown.index("version 2") < shown.index("version 1")
    assert "tenant delta has version 2" in shown
    assert json.loads(said("profile", "show", "tight", "--json"))["min_move"] == 0.01
    assert "standard odds" in said("profile", "assign", "delta", "--standard")
    assert "tenant delta" not in said("profile", "show", "tight")


def test_what_is_shown_can_be_published_again(said: Said, file: Callable[[Any], Path]) -> None:
    said("profile", "publish", "tight", file(CONTENT))
    shown = json.loads(said("profile", "show", "tight", "--json"))
    assert "already" in said("profile", "publish", "tight", file(shown))


def test_a_preview_counts_open_markets(
    said: Said, file: Callable[[Any], Path], in_store: Callable[..., None]
) -> None:
    said("tenant", "create", "delta")
    in_store(match_with_markets)
    for words in ((), ("--tenant", "delta")):
        found = said("profile", "preview", "tight", file(CONTENT), *words)
        assert "4 open markets would change, 1 more would be suspended" in found
        assert "match_winner: 2 of 2, 0 suspended, mean margin 0.00% -> 10." in found
    assert "no profile" in said("profile", "list")


def test_what_is_wrong_is_said(said: Said, run: Run, file: Callable[[Any], Path]) -> None:
    said("tenant", "create", "delta")
    for content, what in (
        ({"margins": [{"margin": 0.9}]}, "It must be 0 to 0.5"),
        ({"margins": [{"margin": 0.1, "longshots": 1}]}, "longshots"),
        ("x", "profile.json"),
    ):
        for command in ("publish", "preview"):
            refused = run("profile", command, "tight", file(content))
            assert refused.exit_code == 1 and what in refused.stderr
    assert "publish it first" in run("profile", "assign", "delta", "tight").stderr
    assert "no profile 'tight'" in run("profile", "show", "tight").stderr
    said("profile", "publish", "tight", file(CONTENT))
    late = run("profile", "publish", "tight", file({"margins": [{"margin": 0}]}), "--based-on", 0)
    assert late.exit_code == 1 and "newest version of 'tight' is 1" in late.stderr
    for words in (("delta",), ("delta", "tight", "--standard")):
        assert run("profile", "assign", *words).exit_code == 2
