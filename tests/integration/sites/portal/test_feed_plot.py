"""The plots of the delivery in a real browser."""

import pytest

from app.domain.tenant import Role
from app.kit.clock import system_clock
from app.settings import Settings
from app.store import cursors, delivery_minutes
from app.store.connections import Store
from app.store.delivery_minutes import MINUTE_MILLIS, DeliveryMinute
from tests.support import browser
from tests.support.portal import PASSWORD, add_user
from tests.support.queues import private_vhost
from tests.support.tenants import give_vhost
from tests.support.visitor import visiting
from tests.support.wire import serving_http

#: How much of the first plot has the colour of a token, in pixels.
_OF_COLOUR = """
((name) => {{
  const [r, g, b] = window.plotColour(name).match(/[0-9]+/g).map(Number);
  const canvas = document.querySelector("#delivery-plot canvas");
  const {{ data }} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    if (data[at] === r && data[at + 1] === g && data[at + 2] === b) count++;
  return count;
}})("{}")
"""
_DRAWN = "document.querySelectorAll('#delivery-plot canvas').length === 2"
#: Points at the middle of the newest minute.
_POINT = """
(() => {
  const over = document.querySelector("#delivery-plot .u-over"), box = over.getBoundingClientRect();
  const at = { bubbles: true, clientX: box.right - box.width / 120, clientY: box.top + 20 };
  over.dispatchEvent(new MouseEvent("mouseenter", at));
  over.dispatchEvent(new MouseEvent("mousemove", at));
  return true;
})()
"""


@pytest.mark.timeout(120)
async def test_the_plots_have_the_colours_of_the_theme_and_fit(store: Store, settings: Settings) -> None:
    """Bars in the brand's colour, a loss in that of what somebody must look at; words at the pointer."""
    browser.require()
    email = await add_user(store, settings, "acme", Role.READER)
    tenant = await give_vhost(store, "acme")
    until = system_clock() // MINUTE_MILLIS * MINUTE_MILLIS
    samples = [
        DeliveryMinute(tenant.id, until - back * MINUTE_MILLIS, 1, published=100 + back, lag=300)
        for back in range(-3, 50)
    ]
    samples += [DeliveryMinute(tenant.id, until - 9 * MINUTE_MILLIS, 2, dropped=17, notices=1)]
    async with store.transaction() as tx:
        await cursors.create_missing(tx)
        await delivery_minutes.save(tx, samples)
    async with (
        private_vhost(settings) as private,
        serving_http(private) as port,
        visiting(f"http://127.0.0.1:{port}", "/portal", email, PASSWORD) as visitor,
    ):
        page = visitor.page
        for path in ("/portal", "/portal/feed"):
            for width, dark in ((1440, False), (1024, True), (390, True)):
                await page.set_window(width, 900, dark=dark)
                await visitor.open(path)
                await page.until(_DRAWN)
                assert await page.value(_OF_COLOUR.format("brand")) > 1_000, (path, width)
                assert await page.value(_OF_COLOUR.format("bad")) > 20, (path, width)
                assert await visitor.too_wide() == [] and await visitor.violations() == [], (path, width)
        await page.value(_POINT)
        await page.until(
            "/ envelopes · lag up to 0.3 s$/.test(document.getElementById('delivery-note').textContent)"
        )
