"""The API as SDKs call it: their order, their header, and what they accept as an answer, each as strictly as
the strictest of them."""

import re
from collections.abc import Iterable
from typing import Any

import httpx
import msgspec
from lxml import etree

_URN = re.compile(r"[a-z]+:(match|tournament|competitor|player|sport):[1-9][0-9]*\Z")
#: Where a URN stands: element and attribute.
_URNS = (
    ("sport", "id"),
    ("tournament", "id"),
    ("competitor", "id"),
    ("player", "id"),
    ("player", "sport"),
    ("sport_event", "id"),
    ("fixture", "id"),
    ("fixture_change", "sport_event_id"),
)
#: What an element must have, or a client fails.
_REQUIRED = {
    "bookmaker_details": ("bookmaker_id", "virtual_host", "expire_at"),
    "producer": (
        "id",
        "name",
        "description",
        "active",
        "api_url",
        "scope",
        "stateful_recovery_window_in_minutes",
    ),
    "sport": ("id", "name", "abbreviation"),
    "tournament": ("id", "name", "abbreviation"),
    "competitor": ("id", "name", "abbreviation", "underage"),
    "player": ("id", "name", "sport"),
    "sport_event": ("id", "name"),
    "sport_event_status": ("status", "match_status_code", "home_score", "away_score"),
    "period_score": ("type", "number", "match_status_code", "home_score", "away_score"),
    "market": ("id", "name"),
    "outcome": ("id", "name"),
    "specifier": ("name", "type"),
    "match_status": ("id", "description"),
    "void_reason": ("id", "name"),
}
#: Children without which a client fails, some of them although they may be empty.
_WRAPPERS = {
    "sport_event": ("tournament", "competitors"),
    "fixture": ("tournament", "competitors"),
    "tournament": ("sport", "category"),
    "sport_tournaments": ("sport", "tournaments"),
    "tournament_info": ("tournament", "competitors"),
    "competitor_profile": ("competitor",),
    "market": ("outcomes",),
}
_DATES = ("scheduled", "scheduled_end", "start_time", "update_time", "expire_at", "generated_at")
_CODED = {
    "bookmaker_details",
    "producers",
    "market_descriptions",
    "match_status_descriptions",
    "void_reasons",
}
#: The element that bears the id that was requested.
_NAMED = {
    "sport_tournaments": "sport",
    "tournament_info": "tournament",
    "competitor_profile": "competitor",
    "player_profile": "player",
    "match_summary": "sport_event",
    "fixtures_fixture": "fixture",
}


class CallFailed(Exception):
    """A call for which an SDK returns an error."""


class Identity(msgspec.Struct, frozen=True):
    """What a client learns from its first two calls."""

    virtual_host: str
    bookmaker_id: int
    product: int
    producer: str
    window_minutes: int


class Api:
    """One client with its key. With `eager`, it loads the profiles of all competitors, and those of their
    players, after each document that names competitors, as an old SDK does without looking into its cache."""

    PAGE = 100  #: matches of a page of the schedule, the smallest that an SDK requests

    def __init__(self, http: httpx.AsyncClient, key: str, *, eager: bool = False) -> None:
        self._http, self.key, self._eager = http, key, eager
        self.calls = 0

    async def identity(self) -> Identity:
        """The calls before the connection to the broker."""
        me = await self.get("users/whoami", "bookmaker_details")
        (producer,) = [
            each
            for each in await self.get("descriptions/producers", "producers")
            if each.get("active") == "true"
        ]
        return Identity(
            me.get("virtual_host"),
            int(me.get("bookmaker_id")),
            int(producer.get("id")),
            producer.get("name"),
            int(producer.get("stateful_recovery_window_in_minutes")),
        )

    async def catalogues(self, locale: str) -> None:
        """What is loaded once for a language, and the tournaments of every sport."""
        await self.get(f"descriptions/{locale}/markets", "market_descriptions")
        await self.get(f"descriptions/{locale}/match_status", "match_status_descriptions")
        await self.get("descriptions/void_reasons", "void_reasons")
        for sport in await self.get(f"sports/{locale}/sports", "sports"):
            urn = sport.get("id")
            listed = await self.get(f"sports/{locale}/sports/{urn}/tournaments", "sport_tournaments", urn)
            for tournament in listed.iter("tournament"):
                await self.tournament(locale, tournament.get("id"))

    async def tournament(self, locale: str, urn: str) -> Any:
        return await self._with_competitors(locale, f"tournaments/{urn}/info", "tournament_info", urn)

    async def summary(self, locale: str, urn: str) -> Any:
        return await self._with_competitors(locale, f"sport_events/{urn}/summary", "match_summary", urn)

    async def fixture(self, locale: str, urn: str) -> Any:
        return await self._with_competitors(locale, f"sport_events/{urn}/fixture", "fixtures_fixture", urn)

    async def competitor(self, locale: str, urn: str) -> Any:
        path = f"sports/{locale}/competitors/{urn}/profile"
        found = await self.get(path, "competitor_profile", urn)
        if self._eager:
            for player in found.iter("player"):
                await self.player(locale, player.get("id"))
        return found

    async def player(self, locale: str, urn: str) -> Any:
        return await self.get(f"sports/{locale}/players/{urn}/profile", "player_profile", urn)

    async def schedules(self, locale: str) -> list[str]:
        """The URNs of all matches to come, page by page, and of those that are played."""
        found: list[str] = []
        page: Iterable[Any] = range(self.PAGE)
        while len(list(page)) == self.PAGE:
            path = f"schedules/pre/schedule?start={len(found)}&limit={self.PAGE}"
            page = await self._with_competitors(locale, path, "schedule")
            found += [event.get("id") for event in page]
        live = await self._with_competitors(locale, "schedules/live/schedule", "schedule")
        return found + [event.get("id") for event in live]

    async def recover(self, producer: str, request_id: int, **others: int) -> None:
        """Request a full recovery."""
        await self.post(f"{producer}/recovery/initiate_request", request_id=request_id, **others)

    async def recover_event(self, producer: str, what: str, urn: str, request_id: int, **others: int) -> None:
        """Request the `odds` or the `stateful_messages` of a match."""
        await self.post(f"{producer}/{what}/events/{urn}/initiate_request", request_id=request_id, **others)

    async def get(self, path: str, root: str, urn: str = "") -> Any:
        """A document of that root about `urn`; raises `CallFailed`."""
        answer = await self._send("GET", path)
        if answer.status_code != 200:
            raise CallFailed(f"{path}: {answer.status_code} {answer.text[:200]}")
        found = etree.fromstring(answer.content)
        problems = list(_problems(found, root))
        if urn and found.find(_NAMED[root]).get("id") != urn:
            problems.append(f"another id than {urn}")
        if problems:
            raise CallFailed(f"{path}: {'; '.join(problems)}")
        return found

    async def post(self, path: str, **params: int) -> None:
        """Nothing but 200 is a success; raises `CallFailed`."""
        await self._change("POST", path, params)

    async def put(self, path: str, **params: int) -> None:
        """As `post`."""
        await self._change("PUT", path, params)

    async def delete(self, path: str, **params: int) -> None:
        """As `post`."""
        await self._change("DELETE", path, params)

    async def _change(self, method: str, path: str, params: dict[str, int]) -> None:
        answer = await self._send(method, path, params=params)
        if answer.status_code != 200:
            raise CallFailed(f"{path}: {answer.status_code} {answer.text[:200]}")
        found = etree.fromstring(answer.content)
        if found.tag != "response" or found.get("response_code") not in ("OK", "CREATED", "ACCEPTED"):
            raise CallFailed(f"{path}: {answer.text[:200]}")

    async def _with_competitors(self, locale: str, path: str, root: str, urn: str = "") -> Any:
        found = await self.get(f"sports/{locale}/{path}", root, urn)
        if self._eager:
            for competitor in found.xpath(".//competitors[not(ancestor::tournament)]/competitor"):
                await self.competitor(locale, competitor.get("id"))
        return found

    async def _send(self, method: str, path: str, params: dict[str, int] | None = None) -> httpx.Response:
        self.calls += 1
        headers = {"x-access-token": self.key, "accept": "application/xml"}
        return await self._http.request(method, f"/v1/{path}", headers=headers, params=params)


def _problems(document: Any, root: str) -> Iterable[str]:
    """Why an SDK does not accept a document."""
    if document.tag != root:
        yield f"root {document.tag}"
    if document.nsmap:
        yield "a namespace"
    if root in _CODED and document.get("response_code") != "OK":
        yield "no response_code OK"
    if root == "bookmaker_details":  # clients read its attributes and nothing within it
        document = etree.Element(root, document.attrib)
    for element, attribute in _URNS:
        for node in document.iter(element):
            if not _URN.match(node.get(attribute) or ""):
                yield f"{attribute}={node.get(attribute)!r} of {element} is no URN"
    for node in document.iter():
        yield from (
            f"{node.tag} has no {name}" for name in _REQUIRED.get(node.tag, ()) if node.get(name) is None
        )
        yield from (f"{name} of {node.tag} is empty" for name in _DATES if node.get(name) == "")
        absent = [child for child in _WRAPPERS.get(node.tag, ()) if node.find(child) is None]
        yield from (f"{node.tag} has no {child}" for child in absent)
        if node.tag == "players" and not len(node):
            yield "empty players"
