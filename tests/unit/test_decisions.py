"""Each decision is in the index; the change log has the version."""

import re
from pathlib import Path

from app.kit.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def heading(record: Path) -> str:
    return record.read_text().splitlines()[0].removeprefix("# ")


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
