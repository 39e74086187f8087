"""Decisions: numbered without gaps, of one form, each in the index. And versions in the change log."""

import re
from pathlib import Path

import pytest

from app.kit.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
#: In this order; the third may be missing.
SECTIONS = ["Context", "Decision", "What was tried", "Consequences"]


def heading(record: Path) -> str:
    return record.read_text().splitlines()[0].removeprefix("# ")


def test_numbers_have_no_gap() -> None:
    assert [record.name[:5] for record in RECORDS] == [f"{n:04}-" for n in range(1, len(RECORDS) + 1)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_record_has_its_sections(record: Path) -> None:
    assert heading(record).startswith(f"{record.name[:4]}. ")
    sections = re.findall(r"^## (.+)$", record.read_text(), re.MULTILINE)
    assert sections in (SECTIONS, [each for each in SECTIONS if each != "What was tried"])


def test_the_index_has_every_record_by_its_title() -> None:
    listed = re.findall(
        r"^\| (\d{4}) \| \[(.+)\]\((.+)\) \|$", (FOLDER / "README.md").read_text(), re.MULTILINE
    )
    there = [(record.name[:4], heading(record).split(" ", 1)[1], record.name) for record in RECORDS]
    assert listed == there


def test_the_change_log_has_the_version() -> None:
    """Once it is released."""
    versions = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == "Unreleased" and (VERSION in versions) is (".dev" not in VERSION)


def test_contributors_find_every_session_that_is_longer_than_the_gate() -> None:
    """Sessions that measure or test, and are neither run by the gate nor write something anew."""
    sessions = set(re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(), re.MULTILINE))
    gate = {"lint", "types", "contracts", "codegen_check", "unit", "integration", "contract", "e2e"}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert {each for each in sessions - gate - {"lock"} if f"`nox -s {each}`" not in text} == set()
