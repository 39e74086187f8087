"""Profiles in the console: what one would change is seen before it is published, or given to a tenant."""

import re
from html import unescape
from typing import Any

import pytest

from app.access import admin, profiles
from app.access.profiles import MarginRule, ProfileContent
from app.domain.match import Match
from app.domain.profiles import Profile
from app.domain.tenant import OperatorRole
from app.kit.clock import system_clock
from app.store import tenants
from app.store.connections import Store
from tests.integration.sites.console.conftest import SignIn
from tests.support.portal import Person, check_policy
from tests.support.profiles import match_with_markets
from tests.support.story import Story

_INPUT = re.compile(r'<(?:input|(select)) [^>]*?name="(\w+)"[^>]*>(?(1).*?</select>)', re.DOTALL)
_VALUE = re.compile(r' value="([^"]*)"')
_SELECTED = re.compile(r'<option value="([^"]*)" selected')
_MAIN = re.compile(r"<main.*</main>", re.DOTALL)
Fields = dict[str, list[str]]


def fields_of(page: str, action: str) -> Fields:
    """What a browser sends of the form with this action, as it is."""
    form = re.search(rf'<form method="post" action="{action}".*?</form>', page, re.DOTALL)
    assert form, page
    found: Fields = {}
    for one in _INPUT.finditer(form[0]):
        chosen = _SELECTED.search(one[0]) if one[1] else _VALUE.search(one[0])
        found.setdefault(one[2], []).append(unescape(chosen[1]) if chosen else "")
    return found


async def with_profile(store: Store, name: str = "tight", margin: float = 0.05) -> Profile:
    """Publish a version."""
    async with store.transaction() as tx:
        content = ProfileContent((MarginRule(margin),))
        return (await profiles.publish(tx, name, content, by="test", now=system_clock())).profile


async def newest(store: Store, name: str = "tight") -> ProfileContent:
    async with store.autocommit() as tx:
        return profiles.content_of(await profiles.newest_version(tx, name))


async def profile_of(store: Store, slug: str = "beta") -> tuple[str, int] | None:
    async with store.autocommit() as tx:
        own = profiles.profile_of(await tenants.by_slug(tx, slug))
    return own.key if own else None


@pytest.fixture(autouse=True)
async def beta(store: Store) -> None:
    async with store.transaction() as tx:
        await admin.create_tenant(tx, "beta", "Beta", by="test", now=1)


@pytest.fixture
async def match(store: Store) -> Match:
    return await match_with_markets(Story(store))


@pytest.fixture
async def admin_person(sign_in: SignIn) -> Person:
    return await sign_in(OperatorRole.ADMIN)


async def step(person: Person, where: str, fields: Fields, **changed: Any) -> Any:
    return await person.post(f"/console/{where}", **(fields | changed))


async def assign(store: Store, name: str | None = "tight", slug: str = "beta") -> None:
    async with store.transaction() as tx:
        await profiles.assign(tx, slug, name, by="test", now=system_clock())


async def test_a_new_profile_is_previewed_then_published(
    admin_person: Person, store: Store, match: Match
) -> None:
    page = await admin_person.get("/console/new-profile")
    check_policy(page)
    form = fields_of(page.text, "/console/profile-form/check")
    rows = {
        "margin_family": ["match_winner", "", ""],
        "margin_phase": ["in_play", "", ""],
        "margin_margin": ["0,08", "", ""],
        "margin_long_shots": ["0.25", "", ""],
        "stake_family": ["", "", ""],
        "stake_phase": ["last_rounds", "", ""],
        "stake_factor": ["0.5", "", ""],
        "stake_delay_seconds": ["3", "", ""],
    }
    preview = await step(admin_person, "profile-form/check", form, name="tight", min_odds="1.05", **rows)
    check_policy(preview)
    assert preview.status_code == 200 and "beside the standard odds" in preview.text
    assert "Map 1: Northwind to win" in preview.text
    async with store.autocommit() as tx:
        assert await profiles.overview(tx) == []
    sent = fields_of(preview.text, "/console/profile-form/publish")
    again = await step(admin_person, "profile-form/edit", sent)
    assert fields_of(again.text, "/console/profile-form/check")["margin_margin"] == ["0,08", "", "", ""]
    done = await step(admin_person, "profile-form/publish", sent)
    assert done.headers["location"] == "/console/profiles/tight?done=profile_published"
    content = await newest(store)
    assert content.min_odds == 1.05
    assert content.margins == (MarginRule(0.05), MarginRule(0.08, "match_winner", "in_play", 0.25))
    assert [(one.phase, one.factor, one.delay_seconds) for one in content.stakes] == [("last_rounds", 0.5, 3)]
    assert 'href="/console/profiles/tight"' in (await admin_person.get("/console/profiles")).text


async def test_the_form_of_a_version_makes_that_version(admin_person: Person, store: Store) -> None:
    content = profiles.content_of(
        Profile(
            "tight",
            1,
            (MarginRule(1 / 30), MarginRule(0.1, "half", "", 0.123456789)),
            min_odds=1.07,
            max_odds=33.3,
            min_move=0.0125,
        )
    )
    async with store.transaction() as tx:
        await profiles.publish(tx, "tight", content, by="test", now=1)
    page = await admin_person.get("/console/profiles/tight")
    form = fields_of(page.text, "/console/profile-form/check")
    done = await step(admin_person, "profile-form/publish", form)
    assert done.headers["location"].endswith("?done=profile_given")
    assert await newest(store) == content


async def test_a_version_reaches_the_tenants_as_previewed(
    admin_person: Person, store: Store, match: Match
) -> None:
    await with_profile(store)
    await assign(store)
    page = await admin_person.get("/console/profiles/tight")
    assert ">beta<" in page.text
    form = fields_of(page.text, "/console/profile-form/check")
    preview = await step(admin_person, "profile-form/check", form, margin="0.02")
    row = re.search(r"<th scope=\"row\">beta</th>.*?</tr>", preview.text, re.DOTALL)
    assert row and '<td class="number">4</td>' in row[0] and "tight (version 1)" in row[0]
    await step(admin_person, "profile-form/publish", fields_of(preview.text, "/console/profile-form/publish"))
    assert await profile_of(store) == ("tight", 2)
    old = await admin_person.get("/console/profiles/tight?version=1")
    assert fields_of(old.text, "/console/profile-form/check")["margin"] == ["0.05"]
    assert fields_of(old.text, "/console/profile-form/check")["based_on"] == ["2"]
    assert (await admin_person.get("/console/profiles/tight?version=7")).status_code == 404
    assert (await admin_person.get("/console/profiles/none")).status_code == 404


async def test_what_was_published_since_is_shown_before_it_is_replaced(
    admin_person: Person, store: Store
) -> None:
    await with_profile(store)
    page = await admin_person.get("/console/profiles/tight")
    form = fields_of(page.text, "/console/profile-form/check")
    await with_profile(store, margin=0.07)
    refused = await step(admin_person, "profile-form/publish", form, margin="0.03")
    assert refused.status_code == 409 and "newest version of tight is 2" in refused.text
    assert (await newest(store)).margins == (MarginRule(0.07),)
    sent = fields_of(refused.text, "/console/profile-form/publish")
    assert (await step(admin_person, "profile-form/publish", sent)).status_code == 303
    assert (await newest(store)).margins == (MarginRule(0.03),)


async def test_what_does_not_fit_is_said_beside_the_form(admin_person: Person, store: Store) -> None:
    await with_profile(store, "there")
    page = await admin_person.get("/console/new-profile")
    form = fields_of(page.text, "/console/profile-form/check") | {"name": ["tight"]}
    for changed, said in [
        ({"margin": "0.9"}, "margin: 0.9 is not between 0 and 0.5"),
        ({"margin": ""}, "A field is missing"),
        ({"margin": "much"}, "margin: much is no number"),
        ({"name": "Tight"}, "begins with a letter"),
        ({"min_odds": "9", "max_odds": "8"}, "must be above the lowest"),
        ({"margin_margin": ["0.1", "", ""]}, "two rows for the same family"),
        ({"margin_long_shots": ["0.1", "", ""]}, "A field is missing"),
        ({"stake_delay_seconds": ["1.5", "", ""]}, "whole number"),
        ({"stake_factor": ["11", "", ""]}, "factor: 11.0 is not between 0 and 10"),
    ]:
        for where in ("check", "publish"):
            refused = await step(admin_person, f"profile-form/{where}", form, **changed)
            assert refused.status_code == 422 and said in unescape(refused.text), changed
            shown = fields_of(refused.text, "/console/profile-form/check")
            assert shown["max_odds"] == [changed.get("max_odds", "50")], changed
    async with store.autocommit() as tx:
        assert [one.newest.profile.name for one in await profiles.overview(tx)] == ["there"]


async def test_a_new_profile_has_a_name_of_its_own(admin_person: Person, store: Store) -> None:
    """Before it is previewed, and if somebody else takes the name meanwhile."""
    page = await admin_person.get("/console/new-profile")
    form = fields_of(page.text, "/console/profile-form/check") | {"name": ["tight"]}
    await with_profile(store, margin=0.07)
    refused = await step(admin_person, "profile-form/check", form)
    assert refused.status_code == 422 and "There is a profile tight already" in refused.text
    refused = await step(admin_person, "profile-form/publish", form)
    assert refused.status_code == 409 and "newest version of tight is 1" in refused.text
    assert (await newest(store)).margins == (MarginRule(0.07),)


async def test_a_profile_is_given_to_a_tenant_after_a_preview(
    admin_person: Person, store: Store, match: Match
) -> None:
    await with_profile(store)
    page = await admin_person.get("/console/tenants")
    fields = fields_of(page.text, "/console/tenant-profile/check") | {
        "tenant": ["beta"],
        "profile": ["tight"],
    }
    assert "beta" in page.text and "operators-" not in page.text
    preview = await step(admin_person, "tenant-profile/check", fields)
    check_policy(preview)
    assert preview.status_code == 200 and "standard odds" in preview.text
    assert await profile_of(store) is None
    sent = fields_of(preview.text, "/console/tenant-profile/give")
    await with_profile(store, margin=0.07)
    moved_on = await step(admin_person, "tenant-profile/give", sent)
    assert moved_on.status_code == 409 and await profile_of(store) is None
    sent = fields_of(moved_on.text, "/console/tenant-profile/give")
    done = await step(admin_person, "tenant-profile/give", sent)
    assert done.headers["location"] == "/console/tenants?done=profile_assigned"
    assert await profile_of(store) == ("tight", 2)
    assert 'href="/console/profiles/tight"' in (await admin_person.get("/console/tenants")).text
    preview = await step(admin_person, "tenant-profile/check", fields, profile="")
    await step(admin_person, "tenant-profile/give", fields_of(preview.text, "/console/tenant-profile/give"))
    assert await profile_of(store) is None
    unknown = await step(admin_person, "tenant-profile/check", fields, profile="none")
    assert unknown.status_code == 404


@pytest.mark.parametrize("role", [role for role in OperatorRole if role is not OperatorRole.ADMIN])
async def test_others_read_only(sign_in: SignIn, store: Store, role: OperatorRole) -> None:
    await with_profile(store)
    person = await sign_in(role)
    for path in ("/console/profiles", "/console/profiles/tight", "/console/tenants"):
        page = await person.get(path)
        main = _MAIN.search(page.text)
        assert page.status_code == 200 and main and ("tight" in main[0] or path == "/console/tenants")
        assert "<button" not in main[0] and "/console/new-profile" not in page.text
    assert (await person.get("/console/new-profile")).status_code == 403
    for where in ("profile-form/check", "profile-form/edit", "profile-form/publish"):
        assert (await person.post(f"/console/{where}", name="tight", based_on="1")).status_code == 403
    for where in ("tenant-profile/check", "tenant-profile/give"):
        sent = {"tenant": "beta", "profile": "tight", "version": "1"}
        assert (await person.post(f"/console/{where}", **sent)).status_code == 403
    assert await profile_of(store) is None


async def test_pages_are_in_the_language_that_was_chosen(
    admin_person: Person, store: Store, match: Match
) -> None:
    await with_profile(store)
    await assign(store)
    russian = {"Accept-Language": "ru"}
    for path, word in (
        ("/console/profiles", "Профили"),
        ("/console/profiles/tight", "Другая маржа"),
        ("/console/tenants", "стандартные коэффициенты"),
    ):
        assert word in (await admin_person.get(path, headers=russian)).text
