"""What our pages say can be done, can be done: commands parse, paths and links lead somewhere."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_PLACES = re.compile(r"^(?:app|scripts|tests|docs|schemas|codegen)/[\w./-]*[\w/]$")
_FILE = re.compile(r"^\w+\.py$")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_MODULE = re.compile(r"python3? -m ([\w.]+)")
_SESSION = re.compile(r"\bnox -s ([\w-]+)")
_TEST, _NAMED_TEST = re.compile(r"\bdef (test_\w+)"), re.compile(r"\btest_\w+")


def pieces(page: Path) -> Iterator[str]:
    """The code on a page: lines of its fences, continued ones put together, and what stands in backticks."""
    text = page.read_text()
    for fence in _FENCE.findall(text):
        yield from fence.replace("\\\n", " ").splitlines()[1:-1]
    yield from _INLINE.findall(_FENCE.sub("", text))


def commands(page: Path) -> Iterator[list[str]]:
    """The words after `matchfeed` in each command on the page, without the remark beside it."""
    for piece in pieces(page):
        line = piece.removeprefix("$ ").removeprefix(".venv/bin/")
        if line.startswith("matchfeed ") and "…" not in line:
            yield shlex.split(re.split(r"\s{2,}| \| ", line)[0], comments=True)[1:]


def parse(command: click.Command, words: list[str], name: str = "matchfeed") -> None:
    """Read a command as the shell would have it read, without running it; raises `click.UsageError`."""
    if "--help" in words:
        words = words[: words.index("--help")]
        command = command if words else click.Command(name)
    if isinstance(command, click.Group):
        if not words:
            return
        try:
            with click.Context(command, info_name=name) as context:
                _, below, rest = command.resolve_command(context, words)
        except click.exceptions.Exit:
            return  # `--version` prints and exits
        assert below
        parse(below, rest, words[0])
        return
    try:
        command.make_context(name, list(words))
    except click.MissingParameter:
        pass  # a page may speak of a command without using it
    except click.BadParameter as refused:
        brought = refused.param and isinstance(refused.param.type, click.Path | click.File)
        if not (brought or any(word.isupper() for word in words)):
            raise  # files, and what stands in capitals, the reader brings


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_commands_are_ours(page: Path) -> None:
    refused = []
    for words in commands(page):
        try:
            parse(main, words)
        except click.UsageError as error:
            refused.append((" ".join(words), error.format_message()))
    assert refused == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_it_names_is_there(page: Path) -> None:
    named = [piece for piece in pieces(page) if _PLACES.match(piece)]
    links = [
        link.split("#")[0] for link in _LINK.findall(_FENCE.sub("", page.read_text())) if "://" not in link
    ]
    assert [each for each in named if not (ROOT / each).exists()] == []
    assert [each for each in links if not (page.parent / each).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_json_is_sent_as_json(page: Path) -> None:
    """With `-d` alone curl says that it sends a form, which is refused."""
    sent = [piece for piece in pieces(page) if "curl " in piece and re.search(r"(-d|--data) '[{\[]", piece)]
    assert [piece for piece in sent if "application/json" not in piece] == []


def test_modules_and_sessions_that_pages_run_exist() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    modules = {
        ROOT.joinpath(*name.split(".")) for name in _MODULE.findall(text) if name.startswith("scripts.")
    }
    gone = [
        each for each in modules if not (each.with_suffix(".py").exists() or (each / "__main__.py").exists())
    ]
    declared = (ROOT / "noxfile.py").read_text()
    sessions = {
        each
        for each in _SESSION.findall(text)
        if f"def {each}(" not in declared and f'name="{each}"' not in declared
    }
    assert gone == [] and sessions == set()


def test_a_wrong_command_is_noticed() -> None:
    with pytest.raises(click.UsageError):
        parse(main, ["tenant", "frobnicate", "acme"])
    with pytest.raises(click.UsageError):
        parse(main, ["serve", "--prot", "8000"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["matchfeed"] == "app.cli:main"


def test_every_test_that_a_page_names_exists() -> None:
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "scripts").rglob("test_*.py")]
    known = {each.stem for each in files} | set(_TEST.findall("".join(each.read_text() for each in files)))
    for page in PAGES:
        named = set(_NAMED_TEST.findall(page.read_text()))
        assert named <= known, f"{page.name}: {named - known}"


def test_every_file_that_a_page_names_exists() -> None:
    """Without its directory, too. Decisions and the changelog may name what there was then; one page has its
    reader write a file."""
    folders = ("app", "codegen", "scripts", "tests")
    known = {each.name for folder in folders for each in (ROOT / folder).rglob("*.py")} | {"mybook.py"}
    for page in PAGES:
        if page.parent.name != "decisions" and page.name != "CHANGELOG.md":
            gone = {piece for piece in pieces(page) if _FILE.match(piece)} - known
            assert gone == set(), page.name
