"""Operators: their commands over HTTP, and what they were answered."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx

_SECONDS = 10.0
_AGAIN_SECONDS = 0.5


class Operators:
    """Calls of the operators' API and, with the same key, of REST. `failures`: responses with status 500."""

    def __init__(self, base_url: str, operator_url: str, key: str) -> None:
        self.base_url, self.operator_url = base_url, operator_url
        headers = {"X-API-Key": key}
        self.http = httpx.AsyncClient(headers=headers, timeout=_SECONDS, trust_env=False)
        self.failures = list[str]()

    async def close(self) -> None:
        await self.http.aclose()

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The data of the response; None where it is refused, or nobody answers."""
        response = await self._answer(method, path, body)
        return response.json().get("data") if response is not None and response.is_success else None

    async def insist(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The same, until it is done; the request must be one that may be repeated."""
        while (data := await self.call(method, path, body)) is None:
            await asyncio.sleep(_AGAIN_SECONDS)
        return data

    async def order(self, match: str, command: str, fields: dict[str, Any], pick: int | None = None) -> bool:
        """Give a command on a match (its UUID), if there is something to pick for it; whether it was executed
        or refused, not merely sent."""
        chosen = {} if pick is None else await self._picked(match, command, pick)
        if chosen is None:
            return True
        body = {"command": command, "request_id": uuid4().hex, **fields, **chosen}
        response = await self._answer("POST", f"/ops/v1/matches/{match}/commands", body)
        return response is not None and response.status_code < 500

    async def _answer(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response | None:
        url = (self.operator_url if path.startswith("/ops/") else self.base_url) + path
        try:
            response = await self.http.request(method, url, json=body)
        except httpx.TransportError:
            return None
        if response.status_code == 500:
            self.failures.append(f"{method} {path} {body}: 500 {response.text[:200]}")
        return response

    async def _picked(self, match: str, command: str, pick: int) -> dict[str, Any] | None:
        if command == "follow_source":
            found = await self.call("GET", f"/ops/v1/matches/{match}/sources") or []
            choices = [{"source": each["source"]} for each in found if each["state"] == "refused"]
        elif command == "roll_back_market":
            found = await self.call("GET", f"/cs2/v1/matches/{match}/settlements?limit=1000") or []
            choices = [_named(each) for each in found]
        else:
            found = await self.call("GET", f"/ops/v1/matches/{match}/markets") or []
            choices = [_named(each) for each in found]
        return choices[pick % len(choices)] if choices else None


def _named(market: dict[str, Any]) -> dict[str, Any]:
    return {"market_id": market["market_id"], "specifiers": market["specifiers"]}
