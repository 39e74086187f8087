"""A person at the portal or the console in a real browser: opens pages, fills forms in, presses buttons."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from scripts.local_services import chromium
from scripts.local_services.chromium import Page
from tests.support import npm

_AXE = Path(__file__).parents[1] / "e2e" / "axe"
_WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: From this width (px) on nothing is to be scrolled sideways.
_WHOLE_WIDTH = 1024
#: What a window does not show: the elements that reach over the edge of the page; from that width on also
#: those with contents that they cut off, or show when scrolled sideways.
_TOO_WIDE = f"""
(() => {{
  const {{ clientWidth, scrollWidth }} = document.documentElement;
  const named = (each, width) => `${{each.outerHTML.slice(0, 120)}} to ${{width}}`;
  const cut = clientWidth < {_WHOLE_WIDTH} ? [] : [...document.querySelectorAll("main *")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && !each.closest(".hidden, .plot, svg"))
    .filter((each) => getComputedStyle(each).overflowX !== "visible" && each.getClientRects().length)
    .map((each) => named(each, `${{each.scrollWidth}} of ${{each.clientWidth}}`));
  const over = scrollWidth <= clientWidth ? [] : [...document.querySelectorAll("body *")]
    .filter((each) => each.getBoundingClientRect().right > clientWidth)
    .filter((each) => !each.parentElement.closest(".scrolls, nav"))
    .map((each) => named(each, each.getBoundingClientRect().right));
  return scrollWidth > clientWidth && !over.length ? [`${{scrollWidth}} px`] : [...cut, ...over].slice(0, 5);
}})()
"""
_LOADED = (
    "document.readyState === 'complete' && !document.documentElement.dataset.left"
    " && !document.documentElement.dataset.sending"
)
_NO_NOTE = "const note = document.getElementById('note'); if (note) note.hidden = true"
#: What a script of the page has sent is answered beside the page.
_ANSWERED = (
    "document.readyState === 'complete' && !document.documentElement.dataset.sending"
    " && !!document.querySelector('#panel:not([hidden]), #note:not([hidden])')"
)
#: A form that a script of the page sends does not lead to another page.
_STAY = "if (document.documentElement.dataset.sending) delete document.documentElement.dataset.left"
_LEAVE = "document.documentElement.dataset.left = '1'"
#: Not put off by `content-visibility: auto`; what is not shown at all is never drawn.
_DRAWN = "((each) => !each.checkVisibility() || each.checkVisibility({{contentVisibilityAuto: true}}))({})"
_MOST_TABS = 100
#: The first link of a page to the history of a market.
PRICES = "document.querySelector(`main a[href*='/markets/']`).getAttribute('href')"
_SIZE = """
(() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
  .reduce((sum, each) => sum + each.encodedBodySize, 0))()
"""


class Visitor:
    """What one does with a browser's page; every change waits for the page that follows."""

    def __init__(self, page: Page, base_url: str, site: str = "/portal") -> None:
        self.page, self.base_url, self.site = page, base_url, site

    async def open(self, path: str) -> None:
        await self.page.value(_LEAVE)
        await self.page.call("Page.navigate", url=f"{self.base_url}{path}")
        await self.page.until(_LOADED)

    async def open_with_timeline(self, entries: list[str]) -> None:
        """The page of the first of these settlements that rests on more than the end of a map."""
        for entry in entries:
            await self.open(entry)
            if await self.page.value("document.querySelectorAll('.timeline li').length"):
                return
        raise AssertionError("no settlement names a kill or a round")

    async def fill(self, name: str, value: str, form: str = "main") -> None:
        """Set the control of that name in a form."""
        control = f"document.querySelector({json.dumps(f'{form} [name={name}]')})"
        await self.page.value(f"(() => {{ {control}.value = {json.dumps(value)}; }})()")

    async def press(self, text: str, within: str = "main") -> None:
        """Press the button with that text, and wait for the page that it leads to."""
        found = (
            f"[...document.querySelectorAll({json.dumps(within + ' button')})]"
            f".find((each) => each.textContent.trim() === {json.dumps(text)})"
        )
        await self._click(found, repr(text))

    async def submit(self, form: str) -> None:
        """Press the first button of a form, in whatever language, and wait for the page that it leads to."""
        found = f"document.querySelector({json.dumps(form + ' button')})"
        await self._click(found, f"in {form}")

    async def _click(self, button: str, which: str) -> None:
        assert await self.page.value(f"!!{button}"), f"no button {which}: {await self.text()}"
        await self.page.value(f"(() => {{ const found = {button}; {_LEAVE}; found.click(); {_STAY}; }})()")
        await self.page.until(_LOADED)

    async def key(self, key: str, code: int, text: str = "", *, control: bool = False) -> None:
        """Press a key, with Control or without, as a keyboard does; `code` is its virtual key code."""
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 2 if control else 0}
        await self.page.call("Input.dispatchKeyEvent", type="keyDown", **pressed, text=text)
        await self.page.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    async def tab_to(self, selector: str) -> None:
        """Press the tabulator until that element has the focus."""
        reached = f"document.activeElement.matches({json.dumps(selector)})"
        for _ in range(_MOST_TABS):
            if await self.page.value(reached):
                return
            await self.key("Tab", 9)
        raise AssertionError(f"the tabulator does not reach {selector}")

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.page.call("Input.insertText", text=text)

    async def enter(self) -> None:
        """Press Enter, and wait for the page, or the panel, that it leads to."""
        await self.page.value(f"(() => {{ {_LEAVE}; {_NO_NOTE}; }})()")
        await self.key("Enter", 13, "\r")
        await self.page.until(f"{_LOADED} || ({_ANSWERED})")

    async def leave_by(self, key: str) -> None:
        """Press a letter that opens another page, and wait for it."""
        await self.page.value(_LEAVE)
        await self.key(key, ord(key.upper()), key)
        await self.page.until(_LOADED)

    async def sign_in(self, email: str, password: str) -> None:
        await self.open(f"{self.site}/sign-in")
        await self.fill("email", email)
        await self.fill("password", password)
        await self.press("Sign in")
        assert await self.page.value("location.pathname") == self.site, await self.text()

    async def link(self, path: str, selector: str) -> str:
        """Where the first such link of a page leads."""
        await self.open(path)
        found: str = await self.page.value(
            f"document.querySelector({json.dumps(selector)}).getAttribute('href')"
        )
        return found

    async def text(self, selector: str = "main") -> str:
        """The text of an element, as it is shown. That of a row of live matches is empty until a frame draws
        it, which on a busy machine is some time after the page is complete."""
        element = f"document.querySelector({json.dumps(selector)})"
        await self.page.until(_DRAWN.format(element))
        found: str = await self.page.value(f"{element}.innerText")
        return found

    async def content(self, selector: str) -> str:
        """The text of an element, whether or not it is shown."""
        found: str = await self.page.value(f"document.querySelector({json.dumps(selector)}).textContent")
        return found

    async def scripts(self, enabled: bool) -> None:
        """Whether pages may run scripts, from the next one on."""
        await self.page.call("Emulation.setScriptExecutionDisabled", value=not enabled)

    async def look(self, **chosen: str) -> None:
        """Choose theme or size, from the next page on."""
        fields = json.dumps(chosen)
        await self.page.value(
            f"fetch('{self.site}/look', {{ method: 'POST', body: new URLSearchParams({fields}) }})"
        )

    async def too_wide(self) -> list[str]:
        """What the window does not show, or only when it is scrolled sideways."""
        found: list[str] = await self.page.value(_TOO_WIDE)
        return found

    async def size(self) -> int:
        """Bytes of the page and all that it loaded, without headers, as sent."""
        found: int = await self.page.value(_SIZE)
        return found

    async def violations(self) -> list[dict[str, Any]]:
        """What axe-core finds serious or critical in the page: the rule, and where."""
        source = (npm.installed(_AXE) / "node_modules" / "axe-core" / "axe.min.js").read_text()
        await self.page.value(f"(() => {{ {source} }})()")
        only = json.dumps({"runOnly": {"type": "tag", "values": _WCAG}, "resultTypes": ["violations"]})
        found = await self.page.value(f"axe.run(document, {only}).then((all) => all.violations)")
        return [
            {"rule": each["id"], "impact": each["impact"], "where": [node["html"] for node in each["nodes"]]}
            for each in found
            if each["impact"] in ("serious", "critical")
        ]


@asynccontextmanager
async def visiting(base_url: str, site: str, email: str, password: str) -> AsyncIterator[Visitor]:
    """Somebody who has signed in at the site, in a browser of their own that finds no error there."""
    async with chromium.opened(f"{base_url}{site}/sign-in") as page:
        visitor = Visitor(page, base_url, site)
        await page.set_window(1440, 900)
        await page.until("document.readyState === 'complete'")
        await visitor.sign_in(email, password)
        yield visitor
        assert page.errors == []
