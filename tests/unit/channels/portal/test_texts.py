"""The portal's texts: the same ones in both languages, and every one that a page names."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from app.channels.portal import texts

PORTAL = Path(texts.__file__).parent
_PLACE = re.compile(r"\{(\w*)\}")
_NAMED = re.compile(r"""\bt\(['"]([\w.]+)['"]\s*[,)]""")


def test_every_text_is_in_both_languages_with_the_same_places() -> None:
    for name, text in texts.load().items():
        assert set(text) == set(texts.LANGUAGES), name
        assert all(value.strip() for value in text.values()), name
        assert Counter(_PLACE.findall(text["en"])) == Counter(_PLACE.findall(text["ru"])), name


def test_every_name_in_a_template_has_a_text() -> None:
    for template in (PORTAL / "templates").glob("*.html"):
        missing = set(_NAMED.findall(template.read_text())) - set(texts.load())
        assert not missing, template.name


def test_every_redirect_after_a_change_says_what_was_done() -> None:
    source = "".join(path.read_text() for path in PORTAL.glob("*.py"))
    named = set(re.findall(r'redirect\([^)]*, "(\w+)"\)', source))
    assert named and {f"done.{name}" for name in named} <= set(texts.load())


def test_no_name_is_defined_twice() -> None:
    tables = [set(tomllib.loads(path.read_text())) for path in (PORTAL / "locales").glob("*.toml")]
    shared = Counter(name for table in tables for name in table)
    assert {name for name, count in shared.items() if count > 1} <= {"done", "errors"}
    names = [name for path in (PORTAL / "locales").glob("*.toml") for name in _tables(path)]
    assert len(names) == len(set(names))


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
    assert texts.preferred(accepted) == language


def _tables(path: Path) -> list[str]:
    return re.findall(r"^\[([\w.]+)\]$", path.read_text(), re.MULTILINE)
