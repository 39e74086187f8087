"""Headless Chromium, driven over its own protocol: for the pictures and for tests of the page.

Chromium is Debian's package, installed here when we are root and it is missing.
"""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from .processes import ServiceError

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_HOW = "install it (Debian, as root: apt-get install chromium)"
_QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"),
    *("--disable-dev-shm-usage", "--remote-debugging-port=0"),
)
_START_SECONDS, _ANSWER_SECONDS = 30.0, 30.0
_SHOWN = "`${location.href}\\n${document.body.innerText.slice(0, 4000)}`"
_LEFT = "Inspected target navigated or closed"  #: in the browser's message


def ensure_installed(notify: Callable[[str], None]) -> str:
    """The browser's command; installs Debian's package first when that is possible and needed."""
    if found := _found():
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise ServiceError(f"Chromium is not on this machine; {_HOW}")
    notify("installing Chromium (Debian package), about a minute")
    for update in (False, True):
        if update:
            _apt("update")
        if not _apt("install", "--no-install-recommends", "chromium", "fonts-dejavu-core"):
            break
    if found := _found():
        return found
    raise ServiceError(f"apt-get could not install Chromium; {_HOW}")


def _found() -> str:
    return next((path for name in _NAMES if (path := shutil.which(name))), "")


def _apt(*arguments: str) -> int:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-y", "-qq", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


class Page:
    """One tab. `errors` are those of its console and its exceptions."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.errors: list[str] = []

    async def listen(self) -> None:
        """Dispatch the browser's messages until its connection ends."""
        async for raw in self._socket:
            message = json.loads(raw)
            if message.get("id") in self._waiting:
                self._waiting.pop(message["id"]).set_result(message)
            elif message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"]["exceptionDetails"])[:800])
            elif message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
                self.errors.append(
                    f"{message['params']['entry']['text']} {message['params']['entry'].get('url', '')}"
                )

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol; raises `RuntimeError` with the browser's message."""
        self._number += 1
        answer = self._waiting[self._number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        async with asyncio.timeout(_ANSWER_SECONDS):
            response = await answer
        if "error" in response:
            raise RuntimeError(f"{method}: {response['error']['message']}")
        result: dict[str, Any] = response["result"]
        return result

    async def value(self, expression: str) -> Any:
        """The value of an expression in the page, as JSON (an element is none); promises are awaited."""
        evaluated = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in evaluated:
            raise RuntimeError(f"{expression}: {evaluated['exceptionDetails'].get('exception', {})}")
        return evaluated["result"].get("value")

    async def until(self, expression: str, seconds: float = 30.0) -> Any:
        """Wait until an expression is true in the page, or in that to which it leads meanwhile; raises
        `TimeoutError` naming it, with the page's text."""
        try:
            async with asyncio.timeout(seconds):
                while not (found := await self._value_unless_left(expression)):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            shown = await self._value_unless_left(_SHOWN)
            raise TimeoutError(f"waited {seconds} s in vain: {expression}\n{shown}") from None
        return found

    async def _value_unless_left(self, expression: str) -> Any:
        """`value`; None when the page is left while it is evaluated."""
        try:
            return await self.value(expression)
        except RuntimeError as error:
            if _LEFT in str(error):
                return None
            raise

    async def set_window(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the window's size and the preferred colour scheme."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 700,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    async def picture(self, file: Path) -> None:
        """A screenshot, as PNG."""
        shot = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(file.write_bytes, base64.b64decode(shot["data"]))


@asynccontextmanager
async def opened(address: str, notify: Callable[[str], None] = print) -> AsyncIterator[Page]:
    """A page at `address` in a browser of its own, which ends with the block."""
    command = ensure_installed(notify)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = await asyncio.create_subprocess_exec(
            *(command, *_QUIET, f"--user-data-dir={home}", "about:blank"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with connect(await _tab(Path(home)), max_size=None, proxy=None) as socket:
                page = Page(socket)
                listening = asyncio.create_task(page.listen())
                try:
                    for domain in ("Page", "Runtime", "Log"):
                        await page.call(f"{domain}.enable")
                    await page.call("Page.navigate", url=address)
                    yield page
                finally:
                    listening.cancel()
                    await asyncio.wait([listening])
        finally:
            if browser.returncode is None:
                browser.terminate()
            await browser.wait()


async def _tab(home: Path) -> str:
    """The socket of the browser's only tab, once it is there."""
    port_file = home / "DevToolsActivePort"
    async with asyncio.timeout(_START_SECONDS):
        while not port_file.exists() or len(port_file.read_text().split()) < 2:
            await asyncio.sleep(0.05)
        port, path = port_file.read_text().split()
        while not (found := await _target(f"ws://127.0.0.1:{port}{path}")):
            await asyncio.sleep(0.05)
    return f"ws://127.0.0.1:{port}/devtools/page/{found}"


async def _target(browser: str) -> str:
    async with connect(browser, proxy=None) as socket:
        await socket.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
        while (response := json.loads(await socket.recv())).get("id") != 1:
            pass
    pages = [each["targetId"] for each in response["result"]["targetInfos"] if each["type"] == "page"]
    return pages[0] if pages else ""
