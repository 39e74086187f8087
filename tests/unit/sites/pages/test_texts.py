"""The texts of the sites: the same ones in both languages, and every one that a page names."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from app.sites import console, pages, portal
from app.sites.console.site import CONSOLE
from app.sites.pages.site import Site
from app.sites.pages.texts import LANGUAGES, preferred
from app.sites.portal.site import PORTAL

SHARED = Path(pages.__file__).parent
SITES = [(PORTAL, Path(portal.__file__).parent), (CONSOLE, Path(console.__file__).parent)]
_PLACE = re.compile(r"\{(\w*)\}")
_NAMED = re.compile(r"""\bt\(['"]([\w.]+)['"]\s*[,)]""")


@pytest.mark.parametrize(("site", "folder"), SITES)
def test_every_text_is_in_both_languages_with_the_same_places(site: Site, folder: Path) -> None:
    for name, text in site.texts.texts.items():
        assert set(text) == set(LANGUAGES), name
        assert all(value.strip() for value in text.values()), name
        assert Counter(_PLACE.findall(text["en"])) == Counter(_PLACE.findall(text["ru"])), name


@pytest.mark.parametrize(("site", "folder"), SITES)
def test_every_name_in_a_template_has_a_text(site: Site, folder: Path) -> None:
    for template in (*(folder / "templates").glob("*.html"), *(SHARED / "templates").glob("*.html")):
        missing = set(_NAMED.findall(template.read_text())) - set(site.texts.texts)
        assert not missing, template.name


@pytest.mark.parametrize(("site", "folder"), SITES)
def test_every_page_of_the_navigation_has_a_title(site: Site, folder: Path) -> None:
    entries = site.entries(site.path)
    titles = {name for each in entries for name in (each.title, each.short) if name}
    assert titles <= set(site.texts.texts)


@pytest.mark.parametrize(("site", "folder"), SITES)
def test_every_redirect_after_a_change_says_what_was_done(site: Site, folder: Path) -> None:
    source = "".join(path.read_text() for place in (folder, SHARED) for path in place.glob("*.py"))
    named = set(re.findall(r'redirect\(.*, "(\w+)"\)', source))
    assert named and {f"done.{name}" for name in named} <= set(site.texts.texts)


@pytest.mark.parametrize(("site", "folder"), SITES)
def test_no_name_is_defined_twice(site: Site, folder: Path) -> None:
    files = [*(SHARED / "locales").glob("*.toml"), *(folder / "locales").glob("*.toml")]
    names = [name for path in files for name in _tables(path)]
    assert len(names) == len(set(names))
    assert all(tomllib.loads(path.read_text()) for path in files)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("ru", "ru"),
        ("de, ru;q=0.5, en;q=0.4", "ru"),
        ("ru;q=0, en", "en"),
        ("ru;q=x", "en"),
        ("ru-RU,en;q=0.9", "ru"),
        (";;,q=", "en"),
    ],
)
def test_the_language_that_a_browser_prefers(accepted: str, language: str) -> None:
    assert preferred(accepted) == language


def _tables(path: Path) -> list[str]:
    return re.findall(r"^\[([\w.]+)\]$", path.read_text(), re.MULTILINE)
