"""Which metrics and labels a query in PromQL names."""

import re
from collections.abc import Iterator

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?(?!\s*\()(?![\w:])")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_CLAUSE = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^\]]*\]")
_WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}


def selectors(query: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each metric that a query selects, with the labels that it matches."""
    bare = _CLAUSE.sub(" ", _RANGE.sub(" ", _STRING.sub("''", query)))
    for found in _SELECTOR.finditer(bare.replace("''", "0")):
        if found[1].lower() not in _WORDS:
            yield found[1], frozenset(_MATCHER.findall(found[2] or ""))


def grouped_by(query: str) -> frozenset[str]:
    """The labels by which a query groups or joins."""
    lists = _CLAUSE.findall(query)
    return frozenset(label.strip() for each in lists for label in each.split(",") if label.strip())
