"""Generated files: formatted, written to disk, or compared with it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from xsdata.codegen.exceptions import CodegenError
from xsdata.codegen.transformer import ResourceTransformer
from xsdata.codegen.writer import CodeWriter
from xsdata.models.config import GeneratorConfig, OutputFormat

from codegen.generator import FORMAT, LINE_LENGTH

PACKAGE = "app.wire.generated"
_RUFF = (sys.executable, "-m", "ruff")
_XSDATA = (
    *(sys.executable, "-m", "xsdata", "generate", "--structure-style", "single-package", "--unnest-classes"),
    *("--frozen", "--slots", "--docstring-style", "Google"),
)
_ENUMERATION = re.compile(r"^class \w+\(Enum\):\n.*?(?=^(?:class|@)|\Z)", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(r"^        (\w+): (\w[\w ]*):", re.MULTILINE)
_STYLE = ("--isolated", "--quiet", "--stdin-filename", "generated.py")


def generate(schemas: Path) -> dict[str, str]:
    """The sources of `app/wire/generated` by file name, formatted, for the XSDs in `schemas`."""
    config = GeneratorConfig()
    config.output.package = PACKAGE
    config.output.format = OutputFormat(value=FORMAT)
    transformer = ResourceTransformer(config=config)
    uris = [path.resolve().as_uri() for path in sorted(schemas.glob("*.xsd"))]
    if not uris:
        raise CodegenError("No schemas found", directory=str(schemas))
    transformer.process_sources(uris)
    classes = transformer.analyze_classes(transformer.classes)
    generator = CodeWriter.from_config(config).generator
    generator.normalize_packages(classes)
    return {result.path.name: formatted(result.source) for result in generator.render(classes)}


def client_messages(schemas: Path) -> dict[str, str]:
    """The client's messages by file name: dataclasses as xsdata itself generates and reads them."""
    with TemporaryDirectory() as directory:
        command = [*_XSDATA, str((schemas / "feed.xsd").resolve()), "--package", "messages"]
        binaries = str(Path(sys.executable).parent)  # xsdata formats with ruff
        environment = {**os.environ, "PATH": os.pathsep.join((binaries, os.environ.get("PATH", os.defpath)))}
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CodegenError(f"xsdata failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        source = _named((Path(directory) / "messages.py").read_text(encoding="utf-8"))
    head = '"""Generated from `schemas/feed.xsd` by `python -m codegen`: do not edit."""\n\n'
    return {"__init__.py": formatted(head + source)}


def _named(source: str) -> str:
    """Members of enumerations named as `codegen.model` names them, by the documentation's words before the
    colon: xsdata numbers them (`VALUE_1_1` is -1)."""

    def renamed(found: re.Match[str]) -> str:
        text = found[0]
        for old, head in _MEMBER.findall(text):
            new = head.upper().replace(" ", "_")
            text = re.sub(rf"^(        |    ){old}(?=: | = )", rf"\1{new}", text, flags=re.MULTILINE)
        return text

    return _ENUMERATION.sub(renamed, source)


def formatted(source: str) -> str:
    """`source` with sorted and only the needed imports, formatted as the rest of the code."""
    length = f"line-length={LINE_LENGTH}"
    first = '"app", "codegen"'
    fixed = _ruff(
        source, "check", "--fix", "--select", "F401,I", "--config", length,
        "--config", f"lint.isort.known-first-party=[{first}]", *_STYLE, "-",
    )  # fmt: skip
    compact = "format.skip-magic-trailing-comma=true"  # xsdata breaks every call
    return _ruff(fixed, "format", "--config", length, "--config", compact, *_STYLE, "-")


def _ruff(source: str, *arguments: str) -> str:
    done = subprocess.run([*_RUFF, *arguments], input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CodegenError(f"ruff failed on generated code: {done.stdout[-2000:]}{done.stderr}")
    return done.stdout


def write(sources: dict[str, str], directory: Path) -> list[str]:
    """Put `sources` into `directory` and remove what no schema generates; the names that changed."""
    directory.mkdir(parents=True, exist_ok=True)
    changed = differences(sources, directory)
    for name in _strangers(sources, directory):
        path = directory / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for name, source in sources.items():
        (directory / name).write_text(source, encoding="utf-8")
    return changed


def differences(sources: dict[str, str], directory: Path) -> list[str]:
    """One line for each file that is missing, differs or should not be there."""
    lines = [f"{name}: no schema explains this file" for name in _strangers(sources, directory)]
    for name, source in sources.items():
        path = directory / name
        if not path.exists():
            lines.append(f"{name}: missing")
        elif path.read_text(encoding="utf-8") != source:
            lines.append(f"{name}: differs from what the schemas say")
    return sorted(lines)


def _strangers(sources: dict[str, str], directory: Path) -> list[str]:
    present = (path.name for path in directory.iterdir() if path.name != "__pycache__")
    return sorted(name for name in present if name not in sources)
