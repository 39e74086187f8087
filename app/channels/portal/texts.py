"""The pages' texts in each language, from `locales/*.toml`: a table for each text, in both languages.

    [keys.title]
    en = "API keys"
    ru = "Ключи API"

A text may have places for values, `{name}`; they are filled before the template escapes the text.
"""

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("locales")
LANGUAGES = ("en", "ru")
DEFAULT = "en"


class Texts:
    """The texts of one language: `texts("keys.title")`, `texts("feed.lag", seconds=3)`."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts = {name: text[language] for name, text in load().items()}

    def __call__(self, name: str, /, **values: Any) -> str:
        """Raises `KeyError` for a name that no page has."""
        text = self._texts[name]
        return text.format_map(values) if values else text

    def has(self, name: str) -> bool:
        return name in self._texts


@cache
def texts_in(language: str) -> Texts:
    """The texts of one of `LANGUAGES`."""
    return Texts(language)


@cache
def load() -> dict[str, dict[str, str]]:
    """Every text by name (`keys.title`), in every language."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        found |= dict(_leaves("", tomllib.loads(path.read_text())))
    return found


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
