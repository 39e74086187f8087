"""Pages that are generated from the code are current: `nox -s pages` writes them anew."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import cast

import msgspec
import pytest

from app.settings import Settings
from scripts.pages import configuration, dependencies, metrics_page, packages
from scripts.pages.__main__ import ROOT, pages

APP = ROOT / "app"


written = cache(pages)  #: read from all of the code, for each of these tests the same


@pytest.mark.parametrize(
    "name",
    [
        "docs/configuration.md",
        "docs/dependencies.md",
        "docs/metrics.md",
        "docs/alerts.md",
        "docs/architecture.svg",
        "scripts/deploy/matchfeed-alerts.yml",
        "scripts/deploy/matchfeed-dashboard.json",
    ],
)
def test_a_page_is_what_the_code_says(name: str) -> None:
    assert (ROOT / name).read_text() == written()[name]


def test_every_setting_has_its_line_and_words() -> None:
    rows = configuration.rows()
    assert [row[0] for row in rows] == [
        f"`{field.encode_name}`" for field in msgspec.structs.fields(Settings)
    ]
    assert [row for row in rows if not all(row)] == []


def test_every_pinned_package_is_listed_with_its_licence() -> None:
    """Those that this machine does not need, because of their markers, excepted."""
    groups = dependencies.declared()
    direct = {name for names in groups.values() for name in names}
    listed = direct | set(dependencies.brought_by(direct))
    pinned = (ROOT / "scripts" / "constraints.txt").read_text()
    needed = set(re.findall(r"^([\w-]+)==[^;\n]*\\$", pinned, re.MULTILINE))
    assert len(needed) > 100 and needed - listed == set()
    assert {name for name in listed if not dependencies.licence(name)} == set()


def test_a_package_without_a_reason_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(cast("dict[str, str]", dependencies.WHY), "litestar")
    with pytest.raises(ValueError, match="differ: litestar"):
        dependencies.page()


def test_every_metric_has_its_line_words_and_a_place_that_sets_it() -> None:
    rows = metrics_page.rows()
    assert [row[0] for row in rows] == [f"`{name}`" for name in sorted(metrics_page.registered())]
    assert [row for row in rows if not all(row)] == []


def test_metrics_are_made_in_one_file() -> None:
    """Another file's would be registered only where that file is imported, and missing from the page."""
    makers = {"Counter", "Gauge", "Histogram", "Summary", "Info", "Enum"}
    found = [
        str(path.relative_to(APP))
        for path in sorted(APP.rglob("*.py"))
        if "prometheus_client" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        and node.module == "prometheus_client"
        and makers & {alias.name for alias in node.names}
    ]
    assert found == ["kit/metrics.py"]


def test_the_picture_shows_every_package_and_what_it_imports() -> None:
    links, drawn = packages.links_between_packages(), packages.picture()
    folders = {path.stem for path in APP.iterdir() if path.suffix == ".py" or _is_package(path)} - {
        "__init__"
    }
    divided = {"channels", "sites", "operations"}
    parts = {
        f"{name}.{path.name}" for name in divided for path in (APP / name).iterdir() if _is_package(path)
    }
    assert set(links) == folders - divided | parts
    assert [package for package in links if f">{package}</text>" not in drawn] == []


def test_no_arrow_of_the_picture_points_up() -> None:
    links = packages.links_between_packages()
    rows = {package: level for level, row in enumerate(packages.rows(links)) for package in row}
    assert [(one, other) for one in links for other in links[one] if rows[one] >= rows[other]] == []


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").exists()
