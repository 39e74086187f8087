"""A person at the portal or the console: a client with cookies that reads pages and submits their forms; and
one each of whose requests is checked, timed, counted, and during a fault repeated."""

import asyncio
import re
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import httpx

from app.access import users
from app.domain.tenant import OperatorRole, Role, User
from app.settings import Settings
from app.store.connections import Store
from scripts.lab.local_faults import FaultRecord

PASSWORD = "correct horse battery staple"
_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
_AGAIN_SECONDS = 1.0
_RECONNECT_SECONDS = 3.0  #: as the console's own script
_HTML = "text/html"
_EVENTS = {"Accept": "text/event-stream"}  #: as browsers ask for them: a server that stops ends such a stream
_REFUSED = 409  #: what the present state forbids


class Person:
    """A browser without scripts. Its requests follow no redirect."""

    def __init__(self, client: httpx.AsyncClient, email: str, site: str = "/portal") -> None:
        self.client, self.email, self.site = client, email, site
        self.csrf_token = ""

    async def sign_in(self, password: str = PASSWORD, **fields: str) -> httpx.Response:
        response = await self.client.post(
            f"{self.site}/sign-in", data={"email": self.email, "password": password, **fields}
        )
        if response.status_code == 303:
            await self.get(self.site)
        return response

    async def get(self, path: str, **options: Any) -> httpx.Response:
        """A page; the CSRF token of its forms is that of later submissions."""
        response = await self.client.get(path, **options)
        if found := _TOKEN.search(response.text):
            self.csrf_token = found[1]
        return response

    async def post(self, path: str, files: Any = None, /, **fields: Any) -> httpx.Response:
        """Submit a form as a page of ours would."""
        headers = {"Sec-Fetch-Site": "same-origin"}
        data = {"csrf_token": self.csrf_token, **fields}
        return await self.client.post(path, data=data, files=files, headers=headers)


async def add_user(store: Store, settings: Settings, slug: str, role: Role) -> str:
    """Create a user of that tenant with a password; the e-mail address."""
    return await _add(store, settings, partial(users.create_user, slug=slug), role, slug)


async def add_operator(store: Store, settings: Settings, role: OperatorRole) -> str:
    """Create an operator with a password; the e-mail address."""
    return await _add(store, settings, users.create_operator, role, "operators")


async def _add(
    store: Store, settings: Settings, create: Callable[..., Awaitable[User]], role: str, domain: str
) -> str:
    email = f"{role}-{secrets.token_hex(4)}@{domain}.test"
    by: dict[str, Any] = {"by": "tester", "now": 1}
    async with store.transaction() as tx:
        user = await create(tx, email=email, name=f"The {role}", role=role, **by)
        link = await users.issue_link(tx, user.tenant_id, user.id, secret=settings.secret_key, **by)
    await users.redeem_link(store, link.raw, PASSWORD, secret=settings.secret_key, now=1)
    return email


class UnexpectedResponse(Exception):
    """Something that no person may be shown at that moment; the text is what it was."""


class Visits:
    """All that people did together. `pages` and `pages_in_faults` have how long (ms) each page took; `done`
    and `refused` count what they did, or were refused because play had moved on, by its name; `failed` what
    failed while a fault was on, by status or error; `events` are those of `streams` connections."""

    def __init__(self) -> None:
        self.pages, self.pages_in_faults = list[float](), list[float]()
        self.done, self.refused, self.failed = Counter[str](), Counter[str](), Counter[str]()
        self.events = self.streams = 0


class CheckedPerson(Person):
    """Raises `UnexpectedResponse` for everything but a page, a redirect, and, of a form, a refusal because of
    the present state. While a fault is on, requests that fail are sent again."""

    def __init__(
        self, client: httpx.AsyncClient, email: str, site: str, record: FaultRecord, visits: Visits
    ) -> None:
        super().__init__(client, email, site)
        self.visits = visits
        self._record = record

    async def sign_in(self, password: str = PASSWORD, **fields: str) -> httpx.Response:
        response = await self._checked("sign in", partial(super().sign_in, password, **fields))
        if response.status_code != httpx.codes.SEE_OTHER:
            raise self.unexpected("sign in", _shown(response))
        return response

    async def get(self, path: str, **options: Any) -> httpx.Response:
        send = partial(super().get, path, **options)

        async def timed() -> httpx.Response:
            since, began = self._record.now(), time.perf_counter()
            response = await send()
            if response.is_success and _HTML in response.headers.get("content-type", ""):
                pages = self.visits.pages_in_faults if self._record.touched(since) else self.visits.pages
                pages.append((time.perf_counter() - began) * 1000)
            return response

        return await self._checked(f"GET {path}", timed)

    async def post(self, path: str, files: Any = None, /, **fields: Any) -> httpx.Response:
        send = partial(super().post, path, files, **fields)
        return await self._checked(f"POST {path}", send, _REFUSED)

    async def sign_out(self) -> None:
        """End the session."""
        send = partial(super().post, f"{self.site}/sign-out")
        await self._checked("sign out", send, signs_out=True)

    async def follow(self, path: Callable[[], str], receive: Callable[[str], None]) -> None:
        """Receive the events of a stream without end; connect again when a fault has ended it."""
        while True:
            heard, problem = self._record.now(), "EndOfStream"
            try:
                async with self.client.stream("GET", path(), headers=_EVENTS) as response:
                    if response.status_code != httpx.codes.OK:
                        await response.aread()
                        problem = _shown(response)
                    elif response.is_success:
                        self.visits.streams += 1
                        async for line in response.aiter_lines():
                            heard = self._record.now()
                            if line == "event: ended":
                                raise self.unexpected(path(), "the session has ended")
                            if line.startswith("data: "):
                                self.visits.events += 1
                                receive(line.removeprefix("data: "))
            except httpx.TransportError as error:
                problem = _words(error)
            self._failed(path(), problem, heard)
            await asyncio.sleep(_RECONNECT_SECONDS)

    def unexpected(self, what: str, problem: str) -> UnexpectedResponse:
        return UnexpectedResponse(f"{self._record.now():.0f} s: {self.email}: {what}: {problem}")

    async def _checked(
        self,
        what: str,
        send: Callable[[], Awaitable[httpx.Response]],
        *allowed: int,
        signs_out: bool = False,
    ) -> httpx.Response:
        while True:
            began = self._record.now()
            try:
                response = await send()
            except httpx.TransportError as error:
                self._failed(what, _words(error), began)
            else:
                lost = self._leads_to_sign_in(response) and not signs_out
                if response.status_code in allowed or (response.status_code < 400 and not lost):
                    return response
                if not response.is_server_error:
                    raise self.unexpected(what, _shown(response))
                self._failed(what, _shown(response), began)
            await asyncio.sleep(_AGAIN_SECONDS)

    def _leads_to_sign_in(self, response: httpx.Response) -> bool:
        location: str = response.headers.get("location", "")
        return location.startswith(f"{self.site}/sign-in")

    def _failed(self, what: str, problem: str, since: float) -> None:
        """Count a failure that a fault explains; raises `UnexpectedResponse` for any other."""
        if not self._record.touched(since):
            raise self.unexpected(what, problem)
        self.visits.failed[problem.split()[0]] += 1


def _words(error: httpx.TransportError) -> str:
    return f"{type(error).__name__} {error}"


def _shown(response: httpx.Response) -> str:
    """The status, where it leads, and the beginning of the text."""
    return f"{response.status_code} {response.headers.get('location', '')} {response.text[:2_000]}"
