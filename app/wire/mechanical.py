"""XML without a schema, for every endpoint that has none of its own: any JSON view, rendered mechanically.

Scalars become attributes, objects child elements, lists wrapper elements whose items are named in the
singular; what is null is left out. A scalar in a list is the text of its item. Order is that of the view.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Any

import inflection
import msgspec

from app.wire.text import escaped, plain

ITEM = "item"  #: an item of a list whose name has no singular

#: Where the library knows no singular, a wrong one, or where the name is not a plural at all.
SINGULARS = {
    "actor_position": "coordinate",
    "bonus": ITEM,
    "caches": "cache",
    "data": ITEM,
    "loc": ITEM,
    "maintenance": ITEM,
    "path": "node",
    "rests_on": "fact",
    "roster": "player",
    "sport_allowlist": "sport",
    "target_position": "coordinate",
    "team_a_form": "match",
    "team_b_form": "match",
    "ties": "tie",
    "types_searched": "type",
    "veto": "step",
}

_NESTED = (dict, list, tuple)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


def render(view: Any, root: str) -> bytes:
    """The document `<root>` for a JSON view: a struct, or any value that JSON can represent."""
    return _element(name(root), msgspec.to_builtins(view)).encode()


@lru_cache(maxsize=4096)
def name(key: str) -> str:
    """`key` as an XML name without a colon: a character that is not permitted becomes an underscore."""
    safe = _UNSAFE.sub("_", key)
    reserved = safe[:3].lower() == "xml"
    return safe if safe and (safe[0].isalpha() or safe[0] == "_") and not reserved else f"_{safe}"


@lru_cache(maxsize=4096)
def singular(key: str) -> str:
    """The name of an item in the list `key`."""
    known = SINGULARS.get(key)
    if known is None:
        known = inflection.singularize(key)
    return ITEM if known == key or not known else name(known)


def _element(tag: str, value: Any) -> str:
    if isinstance(value, dict):
        return _object(tag, value)
    if isinstance(value, (list, tuple)):
        content = "".join(_element(singular(tag), item) for item in value if not _absent(item))
    else:
        content = "" if _absent(value) else escaped[_text(value)]
    return f"<{tag}>{content}</{tag}>" if content else f"<{tag}/>"


def _object(tag: str, value: dict[Any, Any]) -> str:
    present = [(str(key), item) for key, item in value.items() if not _absent(item)]
    attributes = _attributes((key, item) for key, item in present if not isinstance(item, _NESTED))
    children = "".join(_element(name(key), item) for key, item in present if isinstance(item, _NESTED))
    return f"<{tag}{attributes}>{children}</{tag}>" if children else f"<{tag}{attributes}/>"


def _attributes(scalars: Iterable[tuple[str, Any]]) -> str:
    """Keys that become the same name are distinguished by underscores: attribute names are unique."""
    used: set[str] = set()
    markup = []
    for key, value in scalars:
        safe = name(key)
        while safe in used:
            safe += "_"
        used.add(safe)
        markup.append(f' {safe}="{escaped[_text(value)]}"')
    return "".join(markup)


def _absent(value: Any) -> bool:
    """Whether JSON would show null: for None, and for numbers that JSON cannot represent."""
    return value is None or (isinstance(value, float) and not isfinite(value))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(Decimal(repr(value))) if isinstance(value, float) else str(value)
