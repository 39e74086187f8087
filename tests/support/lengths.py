"""How much of a repeated case the gate runs. The rest is marked `long`: `nox -s long`."""

from collections.abc import Iterable
from typing import Any

import pytest


def short_then_long(values: Iterable[Any], short: int = 1, *, ids: Iterable[str] = ()) -> list[Any]:
    """For `parametrize`, with these ids or their own: all but the first `short` are marked `long`."""
    names = list(ids)
    return [
        pytest.param(
            value,
            id=names[number] if names else None,
            marks=[pytest.mark.long] if number >= short else [],
        )
        for number, value in enumerate(values)
    ]
