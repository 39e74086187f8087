"""A client as it starts: it reads everything that it needs, in the order in which clients do, and follows
every id that it comes across."""

import re
from collections import defaultdict
from typing import Any

import httpx

from tests.support.facade import document

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
#: Where ids stand: element, attribute, and what it names.
_IDS = (
    ("sport", "id", "sport"),
    ("player", "sport", "sport"),
    ("tournament", "id", "tournament"),
    ("competitor", "id", "competitor"),
    ("sport_event_status", "winner_id", "competitor"),
    ("player", "id", "player"),
    ("sport_event", "id", "event"),
    ("fixture", "id", "event"),
    ("fixture_change", "sport_event_id", "event"),
    ("sport_event_status", "match_status_code", "status"),
    ("period_score", "match_status_code", "status"),
)
#: How a resource is requested: path, root, and the element that bears its id.
_RESOURCES = {
    "tournament": [("tournaments/{id}/info", "tournament_info", "tournament")],
    "competitor": [("competitors/{id}/profile", "competitor_profile", "competitor")],
    "player": [("players/{id}/profile", "player_profile", "player")],
    "event": [
        ("sport_events/{id}/fixture", "fixtures_fixture", "fixture"),
        ("sport_events/{id}/summary", "match_summary", "sport_event"),
    ],
}


class Walker:
    """`seen` holds every id by what it names, `named` the names by locale, id and kind."""

    def __init__(self, client: httpx.AsyncClient, headers: dict[str, str], locale: str, page: int) -> None:
        self._client, self._headers, self._locale, self._page = client, headers, locale, page
        self.seen: dict[str, set[str]] = defaultdict(set)
        self._followed: set[tuple[str, str]] = set()
        self.producers: list[str] = []
        self.markets: dict[str, set[str]] = {}
        self.virtual_host = ""

    async def start(self) -> None:
        """Everything before the first recovery."""
        me = await self._get("/v1/users/whoami", "bookmaker_details")
        self.virtual_host = me.get("virtual_host")
        assert int(me.get("bookmaker_id")) > 0 and me.get("expire_at") > me.get("generated_at")
        for producer in await self._get("/v1/descriptions/producers", "producers"):
            assert producer.get("active") == "true"
            self.producers.append(producer.get("name"))
        statuses = await self._describe()
        sports = await self._get(f"/v1/sports/{self._locale}/sports", "sports")
        for sport in sports:
            await self._get(
                f"/v1/sports/{self._locale}/sports/{sport.get('id')}/tournaments", "sport_tournaments"
            )
        await self._get(f"/v1/sports/{self._locale}/tournaments", "tournaments")
        await self._schedules()
        await self._get(f"/v1/sports/{self._locale}/fixtures/changes", "fixture_changes")
        await self._follow()
        assert self.seen["sport"] <= {sport.get("id") for sport in sports}
        assert self.seen["status"] <= statuses

    async def _describe(self) -> set[str]:
        catalogue = await self._get(f"/v1/descriptions/{self._locale}/markets", "market_descriptions")
        for market in catalogue:
            declared = {node.get("name") for node in market.iter("specifier")}
            assert [node.get("id") for node in market.iter("outcome")] == ["1"]
            for name in [market.get("name"), *(node.get("name") for node in market.iter("outcome"))]:
                assert name and set(_PLACEHOLDER.findall(name)) <= declared
            self.markets[market.get("id")] = declared
        path = f"/v1/descriptions/{self._locale}/match_status"
        statuses = await self._get(path, "match_status_descriptions")
        assert all(node.get("description") for node in statuses)
        await self._get("/v1/descriptions/void_reasons", "void_reasons")
        return {node.get("id") for node in statuses}

    async def _schedules(self) -> None:
        start = 0
        while True:
            path = f"/v1/sports/{self._locale}/schedules/pre/schedule?start={start}&limit={self._page}"
            page = await self._get(path, "schedule")
            start += len(page)
            if len(page) < self._page:
                break
        live = await self._get(f"/v1/sports/{self._locale}/schedules/live/schedule", "schedule")
        days = {node.get("scheduled")[:10] for node in live if node.get("scheduled")}
        for day in sorted(days):
            await self._get(f"/v1/sports/{self._locale}/schedules/{day}/schedule", "schedule")

    async def _follow(self) -> None:
        """Request everything that was seen, and for what is seen in the answers, until nothing is new."""
        while True:
            known = [(kind, one) for kind in _RESOURCES for one in self.seen[kind]]
            new = [each for each in known if each not in self._followed]
            if not new:
                return
            for kind, one in new:
                self._followed.add((kind, one))
                for path, root, element in _RESOURCES[kind]:
                    found = await self._get(f"/v1/sports/{self._locale}/{path.format(id=one)}", root)
                    assert found.find(element).get("id") == one, "what is returned is what was requested"

    async def _get(self, path: str, root: str) -> Any:
        found = document(await self._client.get(path, headers=self._headers), root)
        for element, attribute, kind in _IDS:
            for node in found.iter(element):
                if node.get(attribute) is not None:
                    self.seen[kind].add(node.get(attribute))
        for node in found.iter():
            assert "" not in (node.get("name"), node.get("description"), node.get("scheduled"))
        return found
