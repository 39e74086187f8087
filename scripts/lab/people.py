"""People who use the portal and the console all day, over HTTP as a browser does: `PortalUser` is somebody of
a tenant, `Trader` an operator.

What a trader changes is returned a few seconds later, so that at the end of the day nothing is left of it but
in the record of the match.
"""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from html import unescape
from random import Random

import httpx
import msgspec

from app.domain.tenant import OperatorRole, Role
from app.settings import Settings
from app.store.connections import Store
from scripts.lab.local_faults import FaultRecord
from scripts.lab.operators import Account
from scripts.lab.person import CheckedPerson, Visits, add_operator, add_user
from scripts.lab.service import Service

#: The roles of the tenants' people, one person of a tenant each; all of them may request recoveries.
ROLES = (Role.OWNER, Role.TRADER, Role.DEVELOPER)
TRADERS = 2
_ACTS = 25  #: between signing in and signing out
_THINKS = (0.5, 3.0)  #: seconds between two acts
_TAKES_BACK = (2.0, 6.0)  #: seconds until a trader returns what they have changed
_RECOVERED_SECONDS = 180.0
_TRIES = 20  #: of returning something
#: Connections are kept for less time than the server keeps them: a browser sends a request again where the
#: server closes its connection at that moment, and nobody notices.
_LIMITS = httpx.Limits(keepalive_expiry=2.0)
_SOURCE = re.compile(r'data-source="([^"]+)"')
_LINK = re.compile(r'<a\b[^>]*\bhref="([^"]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
_URN = re.compile(r"\bod:match:\d+\b")
_VERSION = re.compile(r'data-version="([^"]*)"')


class Visitor(ABC):
    """One person; `leave` ends `use` after what they are doing."""

    def __init__(self, person: CheckedPerson, rng: Random) -> None:
        self.person, self._rng = person, rng
        self._visits = person.visits
        self._left = asyncio.Event()
        self._text = ""

    def leave(self) -> None:
        self._left.set()

    async def use(self) -> None:
        """Sign in, look around and act, with a stream of events open; sign out; again."""
        while not self._left.is_set():
            await self.person.sign_in()
            self._visits.done["sign-in"] += 1
            await self._open(self.person.site)
            async with asyncio.TaskGroup() as group:
                following = group.create_task(self.person.follow(self._stream, self._receive))
                for _ in range(_ACTS):
                    if self._left.is_set():
                        break
                    await self._act()
                    await self._think(_THINKS)
                following.cancel()
            await self.person.sign_out()

    @abstractmethod
    async def _act(self) -> None:
        """One of the things that they do."""

    @abstractmethod
    def _stream(self) -> str:
        """The address of the events."""

    @abstractmethod
    def _receive(self, data: str) -> None:
        """What an event says."""

    async def _look_around(self) -> None:
        """Follow a link of the page that is open."""
        links = self._links("")
        await self._open(self._rng.choice(links) if links else self.person.site)

    async def _read_one(self, listing: str, things: str) -> None:
        """Open a list, and something of it, if there is anything yet."""
        await self._open(listing)
        if links := self._links(things):
            await self._open(self._rng.choice(links))
            self._visits.done[f"read of {things.strip('/')}"] += 1

    async def _open(self, path: str) -> str:
        """Open a page, and what its script reads; its text."""
        response = await self.person.get(path)
        self._text = response.text if "text/html" in response.headers.get("content-type", "") else ""
        if source := _SOURCE.search(self._text):
            await self.person.get(unescape(source[1]))
        return self._text

    def _links(self, part: str) -> list[str]:
        """The links of the open page to pages below this part of the site, that is none itself."""
        begin = f"{self.person.site}{part}"
        found = (unescape(link) for link in _LINK.findall(self._text))
        return sorted({link for link in found if link.startswith(begin) and link != begin})

    async def _think(self, seconds: tuple[float, float]) -> None:
        await asyncio.sleep(self._rng.uniform(*seconds))


class PortalUser(Visitor):
    """Somebody of a tenant: reads envelopes, settlements with their evidence and the rest of the portal, and
    requests recoveries."""

    async def _act(self) -> None:
        act = self._rng.choices(("look", "envelope", "settlement", "recovery"), (10, 4, 4, 1))[0]
        match act:
            case "look":
                await self._look_around()
            case "envelope":
                await self._read_one("/portal/envelopes", "/envelopes/")
            case "settlement":
                await self._read_one("/portal/settlements", "/settlements/")
            case "recovery":
                await self._recover()

    def _stream(self) -> str:
        return "/portal/feed/events"

    def _receive(self, data: str) -> None:
        """Nothing that they need."""

    async def _recover(self) -> None:
        """Everything, or the odds of a match; and watch it until it has ended, whether it has succeeded or
        not: without a queue it does not."""
        urns = _URN.findall(await self._open("/portal/envelopes"))
        await self._open("/portal/recoveries")
        of_match = urns and self._rng.random() < 0.5
        fields = (
            {"what": "odds", "match": self._rng.choice(urns)} if of_match else {"what": "full", "match": ""}
        )
        response = await self.person.post("/portal/recoveries", since="", node_id="", **fields)
        if response.status_code != httpx.codes.SEE_OTHER:
            self._visits.refused["recovery"] += 1
            return
        self._visits.done["recovery"] += 1
        path = response.headers["location"].partition("?")[0]
        await self._open(path)
        try:
            async with asyncio.timeout(_RECOVERED_SECONDS):
                while "hx-get" in (await self.person.get(f"{path}/progress")).text:
                    await asyncio.sleep(1)
        except TimeoutError as error:
            raise self.person.unexpected(path, f"not ended after {_RECOVERED_SECONDS:.0f} s") from error


class Trader(Visitor):
    """A trader: reads the console; suspends markets and releases them, changes margins and returns them.
    `place` among the traders chooses the matches whose margins are this one's: a margin that another has
    cleared meanwhile cannot be returned."""

    def __init__(self, person: CheckedPerson, rng: Random, place: int) -> None:
        super().__init__(person, rng)
        self._version, self._place = "", place

    async def _act(self) -> None:
        act = self._rng.choices(("look", "settlement", "market", "margin"), (8, 3, 4, 2))[0]
        match act:
            case "look":
                await self._look_around()
            case "settlement":
                await self._read_one("/console/settlements", "/settlements/")
            case "market":
                await self._suspend_a_market()
            case "margin":
                await self._change_a_margin()

    def _stream(self) -> str:
        return f"/console/live/events?since={self._version}"

    def _receive(self, data: str) -> None:
        self._version = msgspec.json.decode(data)["version"]

    async def _open(self, path: str) -> str:
        text = await super()._open(path)
        if path == self.person.site and (version := _VERSION.search(text)):
            self._version = unescape(version[1])
        return text

    async def _suspend_a_market(self) -> None:
        match = await self._match()
        if match is None:
            return
        await self._open(match)
        markets = [link for link in self._links("/matches/") if link.startswith(f"{match}/markets/")]
        if markets:
            await self._change_and_return(self._rng.choice(markets), "suspend_market", "release_market")

    async def _change_a_margin(self) -> None:
        match = await self._match()
        if match and int(match.rpartition(":")[2]) % TRADERS == self._place:
            margin = f"{self._rng.uniform(0.03, 0.09):.3f}"
            await self._change_and_return(match, "set_margin", "clear_margin", margin=margin)

    async def _match(self) -> str | None:
        """The page of one of the matches in play."""
        await self._open(self.person.site)
        links = [link for link in self._links("/matches/") if "/markets/" not in link]
        return self._rng.choice(links) if links else None

    async def _change_and_return(self, path: str, change: str, back: str, **fields: str) -> None:
        """Give the command on the page, and later the one that takes its effect back, which the page must
        accept as long as it has its form: until the market, or the match, is over."""
        if not await self._gave(path, change, **fields):
            return
        await self._think(_TAKES_BACK)
        for _ in range(_TRIES):
            if await self._gave(path, back) or not _form(self._text, back):
                return
            await asyncio.sleep(1)
        raise self.person.unexpected(path, f"{back} is refused: {self._text}")

    async def _gave(self, path: str, command: str, **fields: str) -> bool:
        """Give a command by its form on a page, and that of its preview; whether it was executed."""
        text = await self._open(path)
        match = path.partition("/markets/")[0]
        if not (form := _form(text, command)):
            return False
        preview = await self.person.post(f"{match}/preview", **form | {"reason": "a doubt"} | fields)
        if preview.is_success:
            sent = preview.text.partition(f'action="{match}/commands"')[2]
            done = await self.person.post(f"{match}/commands", **_hidden(sent.partition("</form>")[0]))
            if done.status_code == httpx.codes.SEE_OTHER:
                self._visits.done[command] += 1
                return True
        self._visits.refused[command] += 1
        return False


def _form(text: str, command: str) -> dict[str, str]:
    """The hidden fields of a command's form on a page; none without such a form."""
    found = text.partition(f'data-command="{command}"')[2].partition("</form>")[0]
    return _hidden(found)


def _hidden(form: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _HIDDEN.findall(form)}


@asynccontextmanager
async def everybody(
    settings: Settings,
    store: Store,
    accounts: Sequence[Account],
    service: Service,
    record: FaultRecord,
    seed: int,
) -> AsyncIterator[list[Visitor]]:
    """New people of the first tenants, and new traders, with one `Visits`; the web processes alternate."""
    visits, kinds = Visits(), list[tuple[Callable[[CheckedPerson, Random], Visitor], str, str]]()
    for account, role in zip(accounts, ROLES, strict=False):
        kinds.append((PortalUser, await add_user(store, settings, account.slug, role), "/portal"))
    for place in range(TRADERS):
        email = await add_operator(store, settings, OperatorRole.TRADER)
        kinds.append((partial(Trader, place=place), email, "/console"))
    async with AsyncExitStack() as stack:
        people = list[Visitor]()
        for number, (kind, email, site) in enumerate(kinds):
            url = service.urls[number % len(service.urls)]
            client = httpx.AsyncClient(base_url=url, timeout=30, trust_env=False, limits=_LIMITS)
            await stack.enter_async_context(client)
            person = CheckedPerson(client, email, site, record, visits)
            people.append(kind(person, Random(f"{seed} {number}")))
        yield people
