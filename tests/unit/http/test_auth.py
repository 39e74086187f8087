"""Which key is meant, and whom a route lets in."""

from typing import Any
from uuid import UUID

import pytest

from app.domain.tenant import Grant, Tenant
from app.http.auth import authorize, read_api_key
from app.kit.errors import BadRequest, Forbidden, Unauthenticated

GRANT = Grant(
    key_id=UUID(int=1),
    tenant=Tenant(UUID(int=2), "acme", "Acme"),
    scopes=frozenset({"cs2:matches:list"}),
    sports=frozenset({"cs2"}),
)


@pytest.mark.parametrize("name", [b"x-api-key", b"x-access-token", b"$x$access-token", b"X-API-Key"])
def test_every_spelling_of_the_header_is_taken(name: bytes) -> None:
    assert read_api_key([(b"accept", b"*/*"), (name, b" k ")]) == "k"


def test_the_same_key_twice_is_one_key() -> None:
    assert read_api_key([(b"x-api-key", b"k"), (b"x-access-token", b"k")]) == "k"


def test_different_keys_are_a_contradiction() -> None:
    with pytest.raises(BadRequest):
        read_api_key([(b"x-api-key", b"k"), (b"$x$access-token", b"l")])


def test_no_key_is_no_entry() -> None:
    with pytest.raises(Unauthenticated):
        read_api_key([(b"authorization", b"Bearer k")])


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"scopes": ("cs2:markets:read",)}, "cs2:markets:read"),
        ({"sport": "soccer"}, "soccer"),
        ({"operator": True}, "operator"),
    ],
)
def test_a_refusal_names_what_is_missing(wanted: dict[str, Any], words: str) -> None:
    with pytest.raises(Forbidden, match=words):
        authorize(GRANT, wanted)


def test_one_of_the_scopes_is_enough() -> None:
    authorize(GRANT, {"sport": "cs2", "scopes": ("cs2:matches:read", "cs2:matches:list")})
    authorize(GRANT, {})


def test_a_header_without_a_value_says_nothing() -> None:
    assert read_api_key([(b"x-api-key", b" "), (b"x-access-token", b"k")]) == "k"
    with pytest.raises(Unauthenticated):
        read_api_key([(b"x-api-key", b"")])
