"""`docs/codegen.md`, "Adding an attribute", done as it says."""

import re
import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from click.testing import CliRunner

from codegen.__main__ import main
from tests.golden.files import SCHEMAS

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
    result = CliRunner().invoke(
        main, [*("--schemas", str(schemas), "--output", str(output), "--client", str(tmp_path / "client"))]
    )
    assert result.exit_code == 0, result.output

    facade = load(output / "facade.py")
    (shown,) = blocks("python")
    calls = re.findall(r"^(\S.*)\n# (.*)$", shown, re.MULTILINE)
    assert len(calls) == 2
    for call, expected in calls:
        assert eval(call, {"facade": facade}) == eval(expected)
    assert "valid_until: Until when this list is valid. (Unix ms)" in facade.Sports.__doc__
