"""Whatever the portal refuses, it says why in the reader's language."""

import re
import string

import pytest

from app.domain.tenant import Role, SignedIn
from app.http.request_guard import RequestGuard, check_query, choose_format
from app.kit.errors import Conflict
from app.sites.pages.router import site_router
from app.sites.pages.sessions import SessionGuard
from app.sites.pages.texts import LANGUAGES
from app.sites.portal.site import PORTAL, check
from tests.support.refusals import Raised, refusals_of

#: What is wrong with a digest has texts of its own, with its place in the digest.
_DIGEST = ("app.wire.views.selfcheck.", "app.access.selfcheck.", "app.sites.portal.selfcheck.")


@pytest.fixture(scope="module")
def raised() -> list[Raised]:
    """What any handler of the portal may refuse, and what stands before it."""
    router = site_router(PORTAL, "app.sites.portal", lambda: None)
    handlers = [each.fn for route in router.routes for each in route.route_handlers]
    opened = (RequestGuard._handle_open, choose_format, check_query)
    guards = (SessionGuard, SessionGuard.handle, *opened, check)
    return refusals_of(*handlers, *guards)


def names_of(found: Raised) -> str:
    return ("selfcheck.problems." if found.where.startswith(_DIGEST) else "errors.") + found.code


def test_every_refusal_has_a_text_in_each_language(raised: list[Raised]) -> None:
    assert len(raised) > 100, "the search reaches access, recovery and store"
    texts = PORTAL.texts.texts
    missing = [each for each in raised if not each.code or names_of(each) not in texts]
    assert missing == []
    russian = {name: texts[name]["ru"] for each in raised if (name := names_of(each))}
    assert {name: text for name, text in russian.items() if not re.search("[а-я]", text)} == {}


def test_texts_name_only_what_refusals_carry(raised: list[Raised]) -> None:
    named = {
        (each, language, place)
        for each in raised
        if not each.where.startswith(_DIGEST)
        for language in LANGUAGES
        for _, place, _, _ in string.Formatter().parse(PORTAL.texts.texts[names_of(each)][language])
        if place is not None and place not in each.values
    }
    assert named == set()


def test_the_search_finds_what_is_new() -> None:
    """By a parameter, by a constant, by a class alone, and behind what it calls."""

    async def handler(person: SignedIn) -> None:
        check(Role.OWNER, None)
        _of_kind("by_parameter")
        raise _CONSTANT

    found = {each.code for each in refusals_of(handler)}
    assert found >= {"by_parameter", "constant", "role_offer"}


_CONSTANT = Conflict("It stands still.", code="constant")


def _of_kind(kind: str) -> None:
    raise Conflict("It does not fit.", code=kind)
