"""Profiles in a real browser: an administrator makes one and gives it to a tenant; all pages fit and can be
read."""

from collections.abc import AsyncIterator

import pytest

from app.access import admin, profiles
from app.domain.tenant import OperatorRole
from app.settings import Settings
from app.store import tenants
from app.store.connections import Store
from tests.integration.sites.console.conftest import visiting_console
from tests.support.profiles import match_with_markets
from tests.support.story import Story
from tests.support.visitor import Visitor


@pytest.fixture
async def visitor(store: Store, settings: Settings) -> AsyncIterator[Visitor]:
    async with visiting_console(store, settings, OperatorRole.ADMIN) as visitor:
        yield visitor


async def fits(visitor: Visitor) -> None:
    """Check that the page can be read, and needs no scrolling sideways in the narrowest window."""
    assert await visitor.violations() == []
    assert await visitor.too_wide() == []


@pytest.mark.timeout(400)
async def test_a_profile_is_made_and_given(visitor: Visitor, store: Store) -> None:
    await match_with_markets(Story(store))
    async with store.transaction() as tx:
        await admin.create_tenant(tx, "acme", "Acme", by="test", now=1)
    await visitor.page.set_window(1024, 800)
    await visitor.open("/console")
    await visitor.key("g", 71, "g")
    await visitor.leave_by("p")
    assert await visitor.page.value("location.pathname") == "/console/profiles"
    await fits(visitor)
    await visitor.open("/console/new-profile")
    await fits(visitor)
    await visitor.fill("name", "tight")
    await visitor.fill("margin", "0.08")
    await visitor.fill("min_odds", "1.05")
    await visitor.press("Show what would change")
    assert "Would change" in await visitor.text()
    await visitor.page.value("document.querySelector('details').open = true")
    await fits(visitor)
    await visitor.press("Change again")
    assert await visitor.page.value("document.querySelector('[name=min_odds]').value") == "1.05"
    await visitor.press("Show what would change")
    await visitor.press("Publish")
    assert await visitor.page.value("location.pathname") == "/console/profiles/tight"
    await fits(visitor)
    await visitor.open("/console/tenants")
    await visitor.fill("tenant", "acme")
    await visitor.fill("profile", "tight")
    await visitor.press("Show what would change")
    assert "acme: tight" in await visitor.text("h1")
    await fits(visitor)
    await visitor.press("Give it to the tenant")
    await fits(visitor)
    async with store.autocommit() as tx:
        own = profiles.profile_of(await tenants.by_slug(tx, "acme"))
    assert own is not None and own.key == ("tight", 1)
