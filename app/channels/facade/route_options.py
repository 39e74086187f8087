"""The `opt` of the facade's routes: what they require of a key, and how their documents are cached."""

from collections.abc import Callable, Hashable
from typing import Any

from app.domain.tenant import Grant
from app.http.representation import Format


def options(*scopes: str) -> dict[str, Any]:
    """`opt` of a route that requires one of these scopes."""
    return {"sport": "cs2", "scopes": scopes, "any_query": True, "format": Format.XML}


def cached(*scopes: str, per: Callable[[Grant], Hashable]) -> dict[str, Any]:
    """`options` of a cached route; `per` is what of a grant its documents depend on."""
    return options(*scopes) | {"cached_per": lambda grant, _: per(grant)}


def nothing(_: Grant) -> Hashable:
    """For `per`: documents that are the same for every grant."""
    return None
