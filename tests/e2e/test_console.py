"""The console in a real browser, over a real server: a reader enters a key and sends a request."""

import json
from typing import Any

import httpx
import pytest

from app.settings import Settings
from app.store.connections import Store
from scripts.local_services import chromium
from scripts.local_services.chromium import Page
from tests.support import browser
from tests.support.queues import private_vhost
from tests.support.web import issuing
from tests.support.wire import serving_http

WHOAMI = "document.getElementById('operations-Service-get_whoami')"
RESPONSE = f"{WHOAMI}.querySelector('.live-responses-table')"
#: The operations that the page shows, by the ends of their elements' ids.
SHOWN = "[...document.querySelectorAll('.opblock')].map((each) => each.id)"
WIDTH = "document.documentElement.scrollWidth"
#: Elements that reach over the edge of the page, for the message.
TOO_WIDE = """
[...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > 360)
  .map((each) => `${each.tagName}.${each.className} ${each.getBoundingClientRect().right}`).slice(0, 30)
"""
_OPENED = 6
OPEN_MORE = f"""
[...document.querySelectorAll(".opblock:not(.is-open) .opblock-summary-control")].slice(0, {_OPENED})
  .forEach((each) => each.click())
"""
MORE_OPEN = f"document.querySelectorAll('.opblock.is-open .responses-table').length > {_OPENED}"
ORIGINS = "performance.getEntriesByType('resource').map((each) => new URL(each.name).origin)"


@pytest.fixture(autouse=True)
def browser_is_here() -> None:
    browser.require()


async def enter(page: Page, key: str) -> None:
    """Type the key and open the console, once the page's script has run."""
    await page.until("document.readyState === 'complete'")
    await page.value(f"document.getElementById('key').value = {json.dumps(key)}")
    await page.value("document.getElementById('open').click()")


async def execute(page: Page) -> tuple[str, Any]:
    """Send the request of `GET /v1/whoami` with its form: the status and the body that the page shows."""
    await page.value(f"{WHOAMI}.querySelector('.opblock-summary-control').click()")
    await page.until(f"!!{WHOAMI}.querySelector('button.execute')")
    await page.value(f"{WHOAMI}.querySelector('button.execute').click()")
    await page.until(f"!!{RESPONSE}?.querySelector('tbody .microlight')")
    status = await page.value(f"{RESPONSE}.querySelector('tbody .response-col_status').innerText")
    body = await page.value(f"{RESPONSE}.querySelector('tbody .microlight').innerText")
    return status.split()[0], json.loads(body)


async def served_operations(address: str, key: str) -> list[str]:
    async with httpx.AsyncClient(base_url=address, headers={"X-API-Key": key}, trust_env=False) as client:
        document = (await client.get("/v1/openapi.json")).json()
    return sorted(one["operationId"] for methods in document["paths"].values() for one in methods.values())


@pytest.mark.timeout(180)
async def test_a_reader_sends_a_request_with_a_key(settings: Settings, store: Store) -> None:
    """The page shows the served document and the response to a request, violates no policy, and loads from
    its own host only. A key that is unknown is refused in the service's words."""
    key = await issuing(store, settings.secret_key)("acme", bundles=("cs2.odds.basic",))
    async with private_vhost(settings) as private, serving_http(private) as port:
        address = f"http://127.0.0.1:{port}"
        async with chromium.opened(f"{address}/v1/docs/console") as page:
            await page.set_window(1280, 1600)
            await enter(page, key)
            await page.until(f"!!{WHOAMI}")
            operations = await served_operations(address, key)
            assert sorted(shown.rpartition("-")[2] for shown in await page.value(SHOWN)) == operations
            status, body = await execute(page)
            assert (status, body["data"]["name"]) == ("200", "Acme")
            assert page.errors == [] and set(await page.value(ORIGINS)) == {address}
            await enter(page, "mfk_wrong")
            refusal = await page.until("document.getElementById('problem').textContent")
            assert "key" in refusal


@pytest.mark.long
@pytest.mark.timeout(180)
async def test_the_page_fits_a_phone(settings: Settings, store: Store) -> None:
    """Also with operations open and a response shown: what is wider scrolls by itself."""
    key = await issuing(store, settings.secret_key)("acme", bundles=("cs2.odds.basic",))
    async with (
        private_vhost(settings) as private,
        serving_http(private) as port,
        chromium.opened(f"http://127.0.0.1:{port}/v1/docs/console") as page,
    ):
        await page.set_window(360, 800)
        await enter(page, key)
        await page.until(f"!!{WHOAMI}")
        assert await page.value(WIDTH) <= 360, await page.value(TOO_WIDE)
        assert (await execute(page))[0] == "200"
        await page.value(OPEN_MORE)
        await page.until(MORE_OPEN)
        assert await page.value(WIDTH) <= 360, await page.value(TOO_WIDE)
