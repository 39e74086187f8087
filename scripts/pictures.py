"""Pictures of the board, for the README: screenshots of the running demo in headless Chromium.

.venv/bin/python -m scripts.pictures [--to docs/pictures]

The demo must run (`./scripts/demo --detach`). Light and dark, wide and on a phone.
"""

import argparse
import asyncio
from pathlib import Path

import msgspec

from scripts.demonstration.paths import DESCRIPTION, ROOT
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
    "board-phone-light": (390, 844, False),
    "board-phone-dark": (390, 844, True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures of the board, from the running demo")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "pictures")
    options = parser.parse_args()
    if not DESCRIPTION.exists():
        raise SystemExit("pictures: the demo does not run; start it with ./scripts/demo --detach")
    options.to.mkdir(parents=True, exist_ok=True)
    demo = msgspec.json.decode(DESCRIPTION.read_bytes())
    try:
        asyncio.run(_take(demo["board"]["url"], options.to))
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


async def _settle(page: Page) -> None:
    """Let two paints pass, so that the picture is of the new size and colours."""
    await page.value("new Promise((done) => setTimeout(done, 1200))")


if __name__ == "__main__":
    main()
