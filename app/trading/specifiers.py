"""A market's specifiers as typed values, and their one canonical text."""

from functools import lru_cache

import msgspec


class Specifiers(msgspec.Struct, frozen=True, gc=False):
    """The specifiers of one market; zero or "" where a type has none. The order is the canonical one."""

    map: int = 0
    round: int = 0
    team: str = ""
    player: str = ""
    handicap: float = 0.0
    threshold: float = 0.0
    target: int = 0
    half: int = 0
    home_maps: int = -1
    away_maps: int = -1

    @property
    def text(self) -> str:
        """Canonical text: ``map=1|round=3|team=home``, or "" when nothing is set."""
        return _text(self)


EMPTY = Specifiers()
_DEFAULTS = tuple((name, getattr(EMPTY, name)) for name in Specifiers.__struct_fields__)


@lru_cache(maxsize=65_536)
def _text(specifiers: Specifiers) -> str:
    values = ((name, getattr(specifiers, name), unset) for name, unset in _DEFAULTS)
    return "|".join(f"{name}={_plain(value)}" for name, value, unset in values if value != unset)


def _plain(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


@lru_cache(maxsize=65_536)
def parse(text: str) -> Specifiers:
    """The values in canonical text. Unknown names and malformed numbers raise `ValueError`."""
    pairs = dict(part.split("=", 1) for part in text.split("|")) if text else {}
    try:
        return (
            msgspec.convert(pairs, Specifiers, strict=False)
            if not pairs.keys() - set(Specifiers.__struct_fields__)
            else _reject(text)
        )
    except msgspec.ValidationError as wrong:
        raise ValueError(f"specifiers {text!r}: {wrong}") from wrong


def _reject(text: str) -> Specifiers:
    raise ValueError(f"specifiers {text!r}: unknown name")
