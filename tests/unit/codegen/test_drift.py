"""What is checked in is what the schemas say, and `--check` sees every way in which it is not."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from codegen.__main__ import main
from codegen.output import differences, generate, write
from tests.golden.files import SCHEMAS

GENERATED = SCHEMAS.parent / "app" / "wire" / "generated"


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return generate(SCHEMAS)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(
        shutil.copytree(GENERATED, tmp_path / "generated", ignore=shutil.ignore_patterns("__pycache__"))
    )


def test_checked_in_files_are_current(sources: dict[str, str]) -> None:
    assert differences(sources, GENERATED) == []


def test_generating_twice_gives_the_same(sources: dict[str, str]) -> None:
    assert generate(SCHEMAS) == sources


def test_check_sees_an_edit(sources: dict[str, str], copy: Path) -> None:
    (copy / "feed.py").write_text((copy / "feed.py").read_text() + "\n")
    assert differences(sources, copy) == ["feed.py: differs from what the schemas say"]


def test_check_sees_a_missing_file(sources: dict[str, str], copy: Path) -> None:
    (copy / "common.py").unlink()
    assert differences(sources, copy) == ["common.py: missing"]


def test_check_sees_files_that_no_schema_explains(sources: dict[str, str], copy: Path) -> None:
    (copy / "by_hand.py").touch()
    (copy / "folder").mkdir()
    assert differences(sources, copy) == [
        "by_hand.py: no schema explains this file",
        "folder: no schema explains this file",
    ]


def test_writing_ends_every_difference(sources: dict[str, str], copy: Path) -> None:
    (copy / "by_hand.py").touch()
    (copy / "folder").mkdir()
    (copy / "folder" / "inside.py").touch()
    (copy / "feed.py").write_text("")
    write(sources, copy)
    assert differences(sources, copy) == []


def test_command_fails_on_drift_and_passes_without(copy: Path) -> None:
    arguments = ["--check", "--output", str(copy)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    (copy / "feed.py").unlink()
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "feed.py: missing" in result.output
    assert "python -m codegen" in result.output
