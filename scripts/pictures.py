"""Pictures of board, portal and console, for the docs: screenshots of the running demo in headless Chromium.

.venv/bin/python -m scripts.pictures [--to docs/pictures]

The demo must run (`./scripts/demo --detach`). Light and dark, wide and on a phone.
"""

import argparse
import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from scripts.demonstration.paths import DESCRIPTION, ENVIRONMENT, ROOT
from scripts.local_services.chromium import Page, opened
from scripts.local_services.processes import ServiceError

#: The proof of the newest settlement is open in the picture.
_OPEN_A_PROOF = """
(async () => {
  const box = document.querySelector("#settlements details");
  if (!box) return false;
  box.open = true;
  for (let wait = 0; wait < 30 && !box.querySelector(".proof").textContent; wait++)
    await new Promise((done) => setTimeout(done, 100));
  return true;
})()
"""
_SHOTS = {
    "board-light": (1440, 1060, False),
    "board-dark": (1440, 1060, True),
}
_A_MATCH = "[data-rows=matches] a"
#: Pages of the portal, as a bookmaker's owner sees them.
_PORTAL_SHOTS = {
    "portal-feed": ("/portal/feed", 1440, 900, False),
    "portal-settlements": ("/portal/settlements", 1440, 900, True),
    "portal-market-types": ("/portal/market-types", 1440, 900, False),
    "portal-keys-phone": ("/portal/keys", 390, 844, False),
    "portal-amqp-phone": ("/portal/amqp", 390, 844, True),
}
_DESK, _PHONE = (1440, 900), (390, 844)
#: Pages of the console; of those with a selector the first link that matches, on the page before.
_CONSOLE_SHOTS: dict[str, tuple[str, str, str, tuple[int, int]]] = {
    "console-live": ("/console", "", "dark", _DESK),
    "console-live-light": ("/console", "", "light", _DESK),
    "console-match-light": ("/console", _A_MATCH, "light", _DESK),
    "console-phone": ("/console", _A_MATCH, "dark", _PHONE),
    "console-market": ("/console/settlements", "main tbody a[href*='/markets/']", "dark", _DESK),
    "console-settlement": ("/console/settlements", "main tbody th a", "dark", _DESK),
    "console-match": ("/console", _A_MATCH, "dark", _DESK),
}
_LOOK = "fetch('/console/look', {{ method: 'POST', body: new URLSearchParams({{ theme: '{}' }}) }})"
#: Edits the first price that is on offer, and has what that would change shown.
_EDIT = """
(async () => {
  const row = document.querySelector("[data-rows=markets] tr:has(a.price:not(.off, .ours))");
  row.querySelector("a.price:not(.off, .ours)").click();
  const field = row.querySelector("input.edit");
  field.value = "41%";
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  for (let wait = 0; wait < 50 && document.getElementById("panel").hidden; wait++)
    await new Promise((done) => setTimeout(done, 100));
  return !document.getElementById("panel").hidden;
})()
"""
_SILENT = "!!document.querySelector('[data-rows=state] .mark.alert') || null"
_SILENT_SECONDS = 60
_FIRST_PRICES = "document.querySelector('main a[href*=\"/markets/\"]')?.getAttribute('href')"


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures of the pages of the running demo")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "pictures")
    options = parser.parse_args()
    if not DESCRIPTION.exists():
        raise SystemExit("pictures: the demo does not run; start it with ./scripts/demo --detach")
    options.to.mkdir(parents=True, exist_ok=True)
    demo = msgspec.json.decode(DESCRIPTION.read_bytes())
    try:
        asyncio.run(_take(demo["board"]["url"], options.to))
        asyncio.run(_take_portal(demo, options.to))
        asyncio.run(_take_console(demo, options.to))
    except ServiceError as error:
        raise SystemExit(f"pictures: {error}") from error


async def _take(address: str, folder: Path) -> None:
    async with opened(address) as page:
        await page.set_window(1440, 1060)
        await page.until("document.querySelectorAll('.offer.fresh').length > 3", 60)
        await page.until("/0 differences/.test(document.getElementById('equal').textContent)", 60)
        for name, (width, height, dark) in _SHOTS.items():
            await page.set_window(width, height, dark=dark)
            await _settle(page)
            await page.until(_OPEN_A_PROOF)
            await page.picture(folder / f"{name}.png")
            print(folder / f"{name}.png")


async def _take_portal(demo: dict[str, Any], folder: Path) -> None:
    """The portal of the board's bookmaker, whose client receives the feed."""
    base_url = demo["base_url"]
    async with opened(f"{demo['portal_url']}/sign-in") as page:
        await _sign_in(page, demo["board"]["users"][0], "/portal")
        for name, (path, width, height, dark) in _PORTAL_SHOTS.items():
            await _shoot(page, f"{base_url}{path}", folder / f"{name}.png", (width, height, dark))
        prices = await _page_with_prices(page, base_url)
        await _shoot(page, prices, folder / "portal-prices.png", (1440, 900, False))


async def _take_console(demo: dict[str, Any], folder: Path) -> None:
    """The console as an administrator sees it; the last picture is of a match whose server is silent."""
    base_url = demo["console_url"].removesuffix("/console")
    admin = next(each for each in demo["operators"] if each["role"] == "admin")
    async with opened(f"{demo['console_url']}/sign-in") as page:
        await _sign_in(page, admin, "/console")
        for name, (path, link, theme, window) in _CONSOLE_SHOTS.items():
            await page.value(_LOOK.format(theme))
            if link:
                await page.call("Page.navigate", url=f"{base_url}{path}")
                path = await page.until(f"document.querySelector(`{link}`)?.getAttribute('href')")
            await _shoot(page, f"{base_url}{path}", folder / f"{name}.png", (*window, theme == "dark"))
        await page.until(_EDIT)
        await _settle(page)
        await page.picture(folder / "console-preview.png")
        print(folder / "console-preview.png")
        await page.call("Page.reload")
        with _servers_silent():
            await page.until(_SILENT, _SILENT_SECONDS)
            await _settle(page)
            await page.picture(folder / "console-silent.png")
            print(folder / "console-silent.png")


@contextmanager
def _servers_silent() -> Iterator[None]:
    """The game servers of the demo send nothing for some seconds, and then again."""
    fault = subprocess.Popen(["bash", "-c", f". {ENVIRONMENT} && {ROOT}/.venv/bin/matchfeed fault source"])
    try:
        yield
    finally:
        fault.wait()


async def _sign_in(page: Page, user: dict[str, str], first: str) -> None:
    await page.until("!!document.querySelector('[name=password]')")
    await page.value(
        f"(({{ email, password }}) => {{ email.value = '{user['email']}';"
        f" password.value = '{user['password']}'; email.form.submit(); }})"
        "(document.querySelector('main form').elements)"
    )
    await page.until(f"location.pathname === '{first}'")


async def _page_with_prices(page: Page, base_url: str) -> str:
    """The address of a page with the history of a market."""
    await page.call("Page.navigate", url=f"{base_url}/portal/settlements")
    return f"{base_url}{await page.until(_FIRST_PRICES)}"


async def _shoot(page: Page, address: str, file: Path, window: tuple[int, int, bool]) -> None:
    width, height, dark = window
    await page.set_window(width, height, dark=dark)
    await page.call("Page.navigate", url=address)
    await page.until("document.readyState === 'complete' && !!document.querySelector('main h1')")
    await _settle(page)
    await page.picture(file)
    print(file)


async def _settle(page: Page) -> None:
    """Let two paints pass, so that the picture is of the new size and colours."""
    await page.value("new Promise((done) => setTimeout(done, 1200))")


if __name__ == "__main__":
    main()
