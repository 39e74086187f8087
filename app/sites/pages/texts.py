"""Texts of pages in each language, from folders `locales`: a table for each text, in both languages.

    [keys.title]
    en = "API keys"
    ru = "Ключи API"

A text may have places for values, `{name}`; they are filled before the template escapes the text.
"""

import tomllib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from app.domain.catalogue import Locale

LANGUAGES = ("en", "ru")
DEFAULT = "en"


class Texts:
    """The texts of one language: `texts("keys.title")`, `texts("feed.lag", seconds=3)`."""

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self.language = language
        self._texts = texts

    def __call__(self, name: str, /, **values: Any) -> str:
        """Raises `KeyError` for a name that no page has."""
        text = self._texts[name]
        return text.format_map(values) if values else text

    @property
    def locale(self) -> Locale:
        """The language, as the catalogue of the domain has it."""
        return cast(Locale, self.language)

    def has(self, name: str) -> bool:
        return name in self._texts


class Catalogue:
    """Every text of these folders, by name (`keys.title`), in every language."""

    def __init__(self, *folders: Path) -> None:
        self.texts: dict[str, dict[str, str]] = {}
        for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
            self.texts |= dict(_leaves("", tomllib.loads(path.read_text())))

    @cached_property
    def _languages(self) -> dict[str, Texts]:
        return {
            language: Texts(language, {name: text[language] for name, text in self.texts.items()})
            for language in LANGUAGES
        }

    def texts_in(self, language: str) -> Texts:
        """The texts of one of `LANGUAGES`."""
        return self._languages[language]


def preferred(accepted: str) -> str:
    """The language that a header `Accept-Language` prefers among ours; the default without one."""
    ranges = (_weighted(each) for each in accepted[:500].split(","))
    ours = [(weight, language) for weight, language in ranges if language in LANGUAGES and weight > 0]
    return max(ours, key=lambda each: each[0])[1] if ours else DEFAULT


def _weighted(entry: str) -> tuple[float, str]:
    language, _, parameter = entry.strip().partition(";")
    try:
        weight = float(parameter.strip().removeprefix("q=") or 1)
    except ValueError:
        weight = 0.0
    return weight, language.strip().lower().partition("-")[0]


def _leaves(name: str, table: dict[str, Any]) -> Iterable[tuple[str, dict[str, str]]]:
    if all(isinstance(value, str) for value in table.values()):
        yield name, table
        return
    for key, value in table.items():
        yield from _leaves(f"{name}.{key}" if name else key, value)
