"""What is checked in is what the schemas say, and `--check` sees every way in which it is not.

`docs/codegen.md`, "Adding an attribute", done as it says.
"""

import re
import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

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


DOCUMENT = SCHEMAS.parent / "docs" / "codegen.md"
SPORTS_END = re.compile(r'(<xs:element name="sports">.*?</xs:sequence>)', re.DOTALL)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def load(path: Path) -> ModuleType:
    spec = spec_from_file_location("walkthrough_facade", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_attribute_in_the_schema_is_all_it_takes(tmp_path: Path) -> None:
    schemas = Path(shutil.copytree(SCHEMAS, tmp_path / "schemas"))
    (snippet,) = blocks("xml")
    path = schemas / "facade.xsd"
    changed, times = SPORTS_END.subn(lambda found: f"{found[1]}\n{snippet}", path.read_text(encoding="utf-8"))
    assert times == 1
    path.write_text(changed, encoding="utf-8")

    output = tmp_path / "generated"
    clients = [
        option for name in ("client", "typescript", "go") for option in (f"--{name}", str(tmp_path / name))
    ]
    result = CliRunner().invoke(main, ["--schemas", str(schemas), "--output", str(output), *clients])
    assert result.exit_code == 0, result.output

    facade = load(output / "facade.py")
    (shown,) = blocks("python")
    calls = re.findall(r"^(\S.*)\n# (.*)$", shown, re.MULTILINE)
    assert len(calls) == 2
    for call, expected in calls:
        assert eval(call, {"facade": facade}) == eval(expected)
    assert "valid_until: Until when this list is valid. (Unix ms)" in facade.Sports.__doc__
