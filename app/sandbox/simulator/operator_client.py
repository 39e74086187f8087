"""A client of the service's operator API."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from app.sandbox.simulator.match_simulation import MatchPlan

_WAITS = (0.1, 0.2, 0.5, 1, 2, 3, 5, 5, 5, 5, 5, 5, 5, 5)


class OperatorRequestFailed(Exception):
    """The service refuses the request, or was unreachable for too long."""


@dataclass(frozen=True)
class CreatedMatch:
    """A match as the service returns it: its UUID, its number, and where its log goes."""

    id: str
    number: int
    log_sink_url: str


class OperatorClient:
    """Calls with an operator's key; a call that fails because the service is unreachable is retried.

    `operator_url` is where `/ops/v1` is served, unless that is `base_url`, the public address."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        base_url: str,
        key: str,
        *,
        operator_url: str = "",
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.client, self.base_url, self.sleep = client, base_url.rstrip("/"), sleep
        self._operator_url = operator_url.rstrip("/") or self.base_url
        self._headers = {"X-Api-Key": key}

    async def create(self, plan: MatchPlan, event: str, *, scheduled_at: int, reference: str) -> CreatedMatch:
        """Create the plan's match (`scheduled_at`: Unix ms); `reference` is its idempotency key."""
        body = {
            "team_a": plan.home.name,
            "team_b": plan.away.name,
            "event": event,
            "bo_type": f"bo{plan.best_of}",
            "scheduled_at": scheduled_at,
            "home_strength": plan.home.points,
            "away_strength": plan.away.points,
            "request_id": reference,
        }
        data = await self._call("POST", "/ops/v1/matches", body)
        return CreatedMatch(data["id"], data["number"], data["log_sink_url"])

    async def cancel(self, match_id: str) -> None:
        await self._call("POST", f"/ops/v1/matches/{match_id}/cancel", {})

    async def set_booked(self, slug: str, match_id: str, booked: bool) -> None:
        await self._call("PUT", f"/ops/v1/tenants/{slug}/bookings/{match_id}", {"booked": booked})

    async def trim(self, keep_finished: int) -> None:
        """Have the service remove all but the newest finished matches."""
        await self._call("POST", "/ops/v1/trim", {"keep_finished": keep_finished})

    async def unfinished(self) -> list[dict[str, Any]]:
        """Matches that are upcoming or live, as the public list shows them."""
        found: list[dict[str, Any]] = []
        for status in ("live", "upcoming"):
            found.extend(await self._call("GET", f"/cs2/v1/matches?status={status}&limit=100", None))
        return found

    async def _call(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        problem = ""
        url = (self._operator_url if path.startswith("/ops/") else self.base_url) + path
        for wait in _WAITS:
            try:
                response = await self.client.request(method, url, json=body, headers=self._headers)
            except httpx.TransportError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if response.status_code < 300:
                    return response.json().get("data") if response.content else None
                problem = f"{response.status_code} {response.text[:300]}"
                if response.status_code < 500 and response.status_code != 429:
                    break
            await self.sleep(wait)
        raise OperatorRequestFailed(f"{method} {path}: {problem}")
