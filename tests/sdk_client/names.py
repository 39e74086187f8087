"""How SDKs name markets and outcomes: the catalogue's templates, filled with what a live market carries."""

import re
from typing import Any

from tests.sdk_client.api import Api
from tests.sdk_client.reading import void_reason_values

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_TEAMS = ("home", "away")


class Unresolved(Exception):
    """A name that a client cannot show."""


class Names:
    """The names in one language. Every document is loaded once, when it is first needed; what could not be
    loaded is requested again each time."""

    def __init__(self, api: Api, locale: str) -> None:
        self._api, self._locale = api, locale
        self._markets: dict[str, Any] = {}
        self._statuses: dict[str, str] = {}
        self._void_reasons: dict[str, Any] = {}
        self._teams: dict[str, dict[str, str]] = {}
        self._players: dict[str, str] = {}

    async def market(self, event: str, market: Any) -> list[str]:
        """The names of a live market and of its outcomes, from its XML element; raises `Unresolved`."""
        if not self._markets:
            catalogue = await self._api.get(f"descriptions/{self._locale}/markets", "market_descriptions")
            self._markets = {each.get("id"): each for each in catalogue}
        described = self._markets.get(market.get("id"))
        if described is None:
            raise Unresolved(f"market {market.get('id')} is not in the catalogue")
        values = await self._values(event, described, market.get("specifiers"))
        outcomes = {each.get("id"): each.get("name") for each in described.iter("outcome")}
        unknown = {each.get("id") for each in market.iter("outcome")} - outcomes.keys()
        if unknown:
            raise Unresolved(f"market {market.get('id')} has no outcomes {unknown}")
        templates = [described.get("name"), *(outcomes[each.get("id")] for each in market.iter("outcome"))]
        return [_filled(template, values) for template in templates]

    async def match(self, event: str) -> str:
        """The name of a match, as the summary has it."""
        await self._load(event)
        return self._teams[event]["match"]

    async def status(self, code: str) -> str:
        """The text of a match status code."""
        if not self._statuses:
            path = f"descriptions/{self._locale}/match_status"
            found = await self._api.get(path, "match_status_descriptions")
            self._statuses = {each.get("id"): each.get("description") for each in found}
        if code not in self._statuses:
            raise Unresolved(f"match status {code} is not in the dictionary")
        return self._statuses[code]

    async def void_reason(self, market: Any) -> str:
        """Why a void market is void: the template of its reason, which is loaded without a language."""
        if not self._void_reasons:
            found = await self._api.get("descriptions/void_reasons", "void_reasons")
            self._void_reasons = {each.get("id"): each for each in found}
        reason = self._void_reasons.get(market.get("void_reason_id"))
        if reason is None:
            raise Unresolved(f"void reason {market.get('void_reason_id')} is not in the catalogue")
        try:
            values = void_reason_values(market.get("void_reason_params"))
        except ValueError as error:
            raise Unresolved(str(error)) from error
        if values.keys() != {each.get("name") for each in reason.iter("param")}:
            return str(reason.get("description"))
        return _filled(reason.get("template"), values)

    def forget(self, event: str) -> None:
        """A fixture changed: the match is loaded again when it is next needed."""
        self._teams.pop(event, None)

    async def _values(self, event: str, described: Any, specifiers: str | None) -> dict[str, str]:
        values: dict[str, str] = {}
        for part in specifiers.split("|") if specifiers else ():
            name, equals, value = part.partition("=")
            if not equals or "=" in value or name in values:
                raise Unresolved(f"specifiers {specifiers!r}")
            values[name] = value
        for name, value in values.items():
            if value in _TEAMS:
                await self._load(event)
                values[name] = self._teams[event][value]
            elif "player_props" in (described.get("groups") or "").split("|") and ":player:" in value:
                values[name] = await self._player(value)
        return values

    async def _load(self, event: str) -> None:
        if event not in self._teams:
            found = (await self._api.summary(self._locale, event)).find("sport_event")
            names = {each.get("qualifier"): each.get("name") for each in found.find("competitors")}
            self._teams[event] = {"match": found.get("name"), **names}

    async def _player(self, urn: str) -> str:
        if urn not in self._players:
            self._players[urn] = (await self._api.player(self._locale, urn)).find("player").get("name")
        return self._players[urn]


def _filled(template: str, values: dict[str, str]) -> str:
    filled = _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
    if not filled or _PLACEHOLDER.search(filled):
        raise Unresolved(f"{template!r} with {values}")
    return filled
