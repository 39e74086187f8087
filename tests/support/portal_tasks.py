"""What a tenant's people do at the portal in a real browser, on a demo."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import pyotp

from tests.support.visitor import PRICES, Visitor

_RECOVERED_SECONDS = 120.0  #: a replay yields to live messages, and a busy machine delays those
_PASSWORD, _OTHER_PASSWORD = "correct horse battery staple", "staple battery horse correct"
Task = Callable[[Visitor, dict[str, Any]], Awaitable[None]]


async def give_a_match_back(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/offer?list=upcoming")
    await visitor.page.value("document.querySelector('main [name=match]').click()")
    await visitor.press("Give the checked ones back")
    await visitor.open("/portal/offer?list=upcoming")
    assert "given back" in await visitor.text("main tbody tr")
    await visitor.page.value("document.querySelector('main [name=match]').click()")
    await visitor.press("Book the checked ones")


async def see_the_delivery_move(visitor: Visitor, demo: dict[str, Any]) -> None:
    """Nothing but the stream takes the mark away again."""
    await visitor.open("/portal/feed")
    assert "Connected" in await visitor.text("#delivery")
    await visitor.page.value("(() => { document.querySelector('#delivery td').textContent = 'mark'; })()")
    await visitor.page.until("!document.querySelector('#delivery').innerText.includes('mark')")
    assert "Connected" in await visitor.text("#delivery")


async def see_the_delivery_plotted(visitor: Visitor, demo: dict[str, Any]) -> None:
    """Once a minute has passed since the feed process began, both plots of it are on both pages."""
    for path in ("/portal", "/portal/feed"):
        await visitor.open(path)
        await visitor.page.until("document.getElementById('delivery-note').textContent.trim()")
        while "no samples" in await visitor.text("#delivery-note"):
            await asyncio.sleep(1)
            await visitor.open(path)
            await visitor.page.until("document.getElementById('delivery-note').textContent.trim()")
        await visitor.page.until("document.querySelectorAll('#delivery-plot canvas').length === 2")


async def recover_from_an_envelope(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/envelopes?message=odds_change")
    seq = (await visitor.text("main tbody th")).strip()
    await visitor.open(f"/portal/envelopes/{seq}")
    assert "<odds_change " in await visitor.text("main pre")
    await visitor.press("Recover from here")
    path = await visitor.page.value("location.pathname")
    assert "/portal/recoveries/" in path, await visitor.text()
    deadline = asyncio.get_running_loop().time() + _RECOVERED_SECONDS
    while "completed" not in (seen := await visitor.text("#progress")):
        assert asyncio.get_running_loop().time() < deadline, seen
        await visitor.open(path)


async def see_a_recovery_move(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/recoveries")
    await visitor.fill("node_id", "5", "main form[action='/portal/recoveries']")
    await visitor.press("Recover")
    ended = "document.querySelector('#progress').innerText.includes('completed')"
    await visitor.page.until(ended, _RECOVERED_SECONDS)


async def invite(visitor: Visitor) -> tuple[str, str]:
    """The address of somebody who was just invited, and the link that they set a password with."""
    await visitor.open("/portal/people")
    form, email = "main form[action='/portal/people']", f"rita-{secrets.token_hex(4)}@people.example"
    await visitor.fill("name", "Rita <script>alert(1)</script>", form)
    await visitor.fill("email", email, form)
    await visitor.submit(form)
    link = await visitor.text(".secret")
    assert "/portal/link/" in link
    return email, link


async def change_a_role_and_end_access(visitor: Visitor, demo: dict[str, Any]) -> None:
    """Of somebody who was just invited."""
    email, _ = await invite(visitor)
    for end in ("role", "end"):
        await visitor.open("/portal/people")
        form = await form_in_row(visitor, email, f"/{end}")
        if end == "role":
            await visitor.fill("role", "trader", form)
        await visitor.submit(form)
        assert await visitor.text(".done"), end
    assert email not in await visitor.text("main tbody")
    await visitor.open("/portal/people?list=ended")
    assert email in await visitor.text("main tbody")


async def check_the_book(visitor: Visitor, demo: dict[str, Any]) -> None:
    """An empty book lacks everything; each kind of difference is explained."""
    await submit_an_empty_book(visitor)
    assert "missing" in (await visitor.text("main section")).lower()


async def submit_an_empty_book(visitor: Visitor) -> None:
    await visitor.open("/portal/selfcheck")
    await visitor.fill("digest", '{"complete": true, "matches": []}', "main form")
    await visitor.submit("main form[action='/portal/selfcheck']")


async def follow_a_settlement(visitor: Visitor, demo: dict[str, Any]) -> None:
    """From the list to what an entry rests on, and to the history of its market."""
    await visitor.open("/portal/settlements?result=won")
    links = "[...document.querySelectorAll('main tbody th a')].map((each) => each.getAttribute('href'))"
    entries = await visitor.page.value(links)
    prices = await visitor.page.value(PRICES)
    await visitor.open_with_timeline(entries)
    await visitor.open(prices)
    assert "settled" in await visitor.text("main tbody")


async def see_the_plot(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/settlements?result=won")
    await visitor.open(await visitor.page.value(PRICES))
    await visitor.page.until("!!document.querySelector('.plot canvas')")


async def end_other_sessions(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/account")
    await visitor.press("End all others")
    assert "ended" in await visitor.text(".done")


async def make_a_key(visitor: Visitor) -> tuple[str, str]:
    """A key's label, and the key."""
    await visitor.open("/portal/keys")
    form, label = "main form[action='/portal/keys']", f"browser {secrets.token_hex(4)}"
    await visitor.fill("label", label, form)
    await visitor.page.value(f"document.querySelector(`{form} [name=bundle]`).click()")
    await visitor.submit(form)
    return label, await visitor.text(".secret")


async def status_of(demo: dict[str, Any], key: str) -> int:
    """How a request with that key is answered."""
    async with httpx.AsyncClient(base_url=demo["base_url"]) as client:
        return (await client.get("/cs2/v1/matches", headers={"X-API-Key": key})).status_code


async def rotate_a_key(visitor: Visitor, demo: dict[str, Any]) -> None:
    """The key that the page shows is valid, and the one that it replaces no more."""
    label, old = await make_a_key(visitor)
    await visitor.open("/portal/keys")
    await visitor.submit(await form_in_row(visitor, label, "/rotate"))
    new = await visitor.text(".secret")
    for key, status in ((old, 403), (new, 200)):
        assert await status_of(demo, key) == status


async def check_the_credentials(visitor: Visitor, demo: dict[str, Any]) -> None:
    """What is pasted may be the whole URL; a wrong password is refused in the broker's own words."""
    for secret, outcome in ((demo["tenants"][0]["amqp_url"], "done"), ("wrong", "problem")):
        await try_a_login(visitor, secret)
        assert await visitor.page.value(f"!!document.querySelector('#result .{outcome}')"), secret[:4]


async def try_a_login(visitor: Visitor, secret: str) -> None:
    await visitor.open("/portal/amqp")
    await visitor.fill("password", secret)
    await visitor.submit("main form[action^='/portal/amqp/check']")


async def switch_a_market_type(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/market-types")
    box = "document.querySelector('main [name=type][value=\"13\"]')"
    for button, state in (("Switch the checked ones off", "off"), ("Switch the checked ones on", "on")):
        await visitor.page.value(f"{box}.click()")
        await visitor.press(button)
        assert (await visitor.page.value(f"{box}.closest('tr').cells[3].innerText")).strip() == state


async def change_and_revoke_a_key(visitor: Visitor, demo: dict[str, Any]) -> None:
    """It is limited to a network that is not ours, and then revoked."""
    label, key = await make_a_key(visitor)
    assert await status_of(demo, key) == 200
    for end in ("", "/revoke"):
        await visitor.open("/portal/keys")
        form = await form_in_row(visitor, label, end)
        if not end:
            label += " changed"
            await visitor.fill("label", label, form)
            await visitor.fill("networks", "192.0.2.0/24", form)
        await visitor.submit(form)
        assert await visitor.text(".done")
        assert await status_of(demo, key) == 403
    await visitor.open("/portal/keys?list=ended")
    assert label in await visitor.text("main tbody")


async def read_the_documentation_with_a_key(visitor: Visitor, demo: dict[str, Any]) -> None:
    """A key that is pasted stands in the examples of that page."""
    _, key = await make_a_key(visitor)
    await visitor.open("/portal/docs")
    assert key not in await visitor.text()
    await visitor.fill("key", key)
    await visitor.submit("main form[action='/portal/docs']")
    assert key in await visitor.text("main pre")


async def search_envelopes(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/envelopes")
    match = await visitor.page.value("document.querySelector(`main tbody td:nth-child(3) a`).title")
    name = (await visitor.text("main tbody td:nth-child(3) a")).strip()
    form = "main form[action='/portal/envelopes']"
    await visitor.fill("match", match, form)
    await visitor.fill("message", "odds_change", form)
    await visitor.submit(form)
    rows = await visitor.page.value(
        "[...document.querySelectorAll('main tbody tr')].map((row) => row.innerText)"
    )
    assert rows and all("odds_change" in row and name in row for row in rows)


async def filter_settlements(visitor: Visitor, demo: dict[str, Any]) -> None:
    """The list and the file have the entries of the filter, and no others."""
    await visitor.open("/portal/settlements")
    form = "main form[action='/portal/settlements']"
    await visitor.fill("result", "won", form)
    await visitor.submit(form)
    shown = "[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[4].innerText)"
    results = await visitor.page.value(shown)
    assert results and all("won" in each or "rolled back" in each for each in results)
    address = await visitor.page.value("document.querySelector('main a[download]').getAttribute('href')")
    lines = (await visitor.page.value(f"fetch('{address}').then((file) => file.text())")).splitlines()
    assert lines[0].startswith("id,time,") and len(lines) > len(results)
    assert not any(",lost," in line for line in lines)


async def form_in_row(visitor: Visitor, text: str, end: str) -> str:
    """The form in the row with that text whose address is that of the row's subject, or ends so."""
    action = await visitor.page.value(
        f"[...document.querySelectorAll('main tbody tr')].find((each) => each.innerText.includes('{text}'))"
        f".querySelector(`form[action{'$' if end else '*'}='{end or '/keys/'}']`).getAttribute('action')"
    )
    return f"main form[action='{action}']"


async def begin_as_invited(visitor: Visitor, demo: dict[str, Any]) -> None:
    """Somebody is invited, sets a password by the link, signs in, changes the password, sets up the second
    factor, and ends their session."""
    email, link = await invite(visitor)
    await visitor.submit("header form[action$='/sign-out']")
    await visitor.open(urlsplit(link).path)
    for name in ("password", "again"):
        await visitor.fill(name, _PASSWORD)
    await visitor.submit("main form")
    await visitor.sign_in(email, _PASSWORD)
    await visitor.open("/portal/account")
    form = "main form[action='/portal/account/password']"
    for name, value in (("old", _PASSWORD), ("new", _OTHER_PASSWORD), ("again", _OTHER_PASSWORD)):
        await visitor.fill(name, value, form)
    await visitor.submit(form)
    assert await visitor.text(".done")
    await visitor.submit("main form[action='/portal/account/second-factor']")
    await visitor.fill("code", pyotp.TOTP(await visitor.text(".secret")).now())
    await visitor.submit("main form[action$='/confirm']")
    assert "is on" in await visitor.text(".done")
    await visitor.submit("main tbody form[action$='/end']")
    assert await visitor.page.value("location.pathname") == "/portal/sign-in"


async def make_credentials(visitor: Visitor, demo: dict[str, Any]) -> None:
    """The first ones or new ones: the address that is shown once logs in."""
    await visitor.open("/portal/amqp")
    await visitor.submit("main form[action='/portal/amqp']")
    address = await visitor.text("#url")
    await try_a_login(visitor, address)
    assert address not in await visitor.text()
    assert await visitor.page.value("!!document.querySelector('#result .done')"), await visitor.text(
        "#result"
    )


async def answers(visitor: Visitor) -> AsyncIterator[str]:
    """Every page that no link leads to is shown in turn: a name of each."""
    _, link = await invite(visitor)
    yield "issued link"
    await visitor.open(urlsplit(link).path)
    yield "link"
    await visitor.fill("password", "one")
    await visitor.fill("again", "another")
    await visitor.page.value("(() => { document.querySelector('main form').noValidate = true; })()")
    await visitor.submit("main form")
    yield "refused form"
    _, key = await make_a_key(visitor)
    yield "issued key"
    await visitor.open("/portal/docs")
    await visitor.fill("key", key)
    await visitor.submit("main form[action='/portal/docs']")
    yield "documentation with a key"
    await try_a_login(visitor, "wrong")
    yield "test of a login"
    await submit_an_empty_book(visitor)
    yield "differences"
    await visitor.open("/portal/account")
    await visitor.submit("main form[action='/portal/account/second-factor']")
    yield "second factor"
    await visitor.open("/portal/nothing")
    yield "error page"
    await visitor.open("/portal")
    await visitor.submit("header form[action$='/sign-out']")
    yield "sign-in"


TASKS: tuple[Task, ...] = (
    give_a_match_back,
    rotate_a_key,
    check_the_credentials,
    recover_from_an_envelope,
    switch_a_market_type,
)
MOVING: tuple[Task, ...] = (
    see_the_delivery_move,
    see_a_recovery_move,
    see_the_plot,
    see_the_delivery_plotted,
)
WITHOUT_SCRIPTS: tuple[Task, ...] = (
    *TASKS,
    change_a_role_and_end_access,
    change_and_revoke_a_key,
    read_the_documentation_with_a_key,
    search_envelopes,
    filter_settlements,
    check_the_book,
    follow_a_settlement,
    end_other_sessions,
)
#: What changes the tenant's own users and passwords: done for a tenant that no other test needs.
FIRST_DAY: tuple[Task, ...] = (make_credentials, begin_as_invited)
