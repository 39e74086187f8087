"""Requests of one key, counted; operators, who command matches and make tenants."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import msgspec

from app.broker import provisioning
from app.broker.management import Management
from app.settings import Settings
from scripts.http_client import client

_AGAIN_SECONDS = 0.5
#: The request itself is wrong: to repeat it makes no sense.
_WRONG = (400, 422)


class Requester:
    """Requests of one key. `failures`: responses of 5xx, and none at all, by what was requested; `errors`:
    those with status 500."""

    def __init__(self, base_url: str, key: str, seconds: float = 30, *, operator_url: str = "") -> None:
        self.base_url, self._operator_url = base_url, operator_url or base_url
        self.http = client(base_url, key, seconds)
        self.statuses, self.failures = Counter[int](), Counter[str]()
        self.errors = list[str]()
        self.slowest = 0.0

    async def close(self) -> None:
        await self.http.aclose()

    async def request(self, method: str, path: str, body: Any = None) -> httpx.Response | None:
        """The response; None where nobody answers."""
        url = (self._operator_url if path.startswith("/ops/") else self.base_url) + path
        began, named = time.monotonic(), f"{method} {path.partition('?')[0]}"
        try:
            response = await self.http.request(method, url, json=body)
        except httpx.TransportError as error:
            self.failures[f"{named}: {error!r}"] += 1
            return None
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.statuses[response.status_code] += 1
        if response.is_server_error:
            self.failures[f"{named}: {response.status_code} {response.text[:200]}"] += 1
        if response.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
            self.errors.append(f"{method} {path} {body}: 500 {response.text[:200]}")
        return response

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The data of the response; None where it is refused, or nobody answers."""
        response = await self.request(method, path, body)
        return response.json().get("data") if response is not None and response.is_success else None

    async def insist(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The same, until it is done; the request must be one that may be repeated. Raises `HTTPStatusError`
        where the request itself is wrong."""
        while True:
            response = await self.request(method, path, body)
            if response is not None and response.is_success:
                return response.json()["data"]
            if response is not None and response.status_code in _WRONG:
                response.raise_for_status()
            await asyncio.sleep(_AGAIN_SECONDS)


class Operators(Requester):
    """With an operator's key."""

    async def order(self, match: str, command: str, fields: dict[str, Any], pick: int | None = None) -> bool:
        """Give a command on a match (its UUID), if there is something to pick for it; whether it was executed
        or refused, not merely sent."""
        chosen = {} if pick is None else await self._picked(match, command, pick)
        if chosen is None:
            return True
        body = {"command": command, "request_id": uuid4().hex, **fields, **chosen}
        response = await self.request("POST", f"/ops/v1/matches/{match}/commands", body)
        return response is not None and response.status_code < 500

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


class Account(msgspec.Struct):
    """What a tenant logs in with. `key` and `amqp_url` may be replaced at any time: the next request and the
    next connection have the new one."""

    slug: str
    amqp_url: str
    key: str
    exchange: str
    tenant_id: str = ""
    key_id: str = ""


async def open_account(operators: Operators, name: str, *bundles: str) -> Account:
    """A new tenant with a vhost and a key of these bundles."""
    slug = f"{name}-{uuid4().hex[:6]}"
    made = await operators.insist("POST", "/ops/v1/tenants", {"slug": slug, "name": slug})
    broker = await operators.insist("POST", f"/ops/v1/tenants/{slug}/amqp")
    key = await operators.insist("POST", f"/ops/v1/tenants/{slug}/keys", _rights(bundles))
    return Account(
        slug,
        broker["amqp_url"],
        key["api_key"],
        broker["exchange"],
        tenant_id=made["tenant_id"],
        key_id=key["key"]["key_id"],
    )


async def new_accounts(operators: Operators, name: str, count: int) -> list[Account]:
    """So many of them that may do what bookmakers do."""
    return [await open_account(operators, name, "cs2.odds.basic") for _ in range(count)]


@asynccontextmanager
async def own_accounts(settings: Settings) -> AsyncIterator[list[Account]]:
    """A list for new accounts, whose vhosts go with the block."""
    accounts = list[Account]()
    try:
        yield accounts
    finally:
        async with Management(settings.rabbitmq_api_url) as management:
            for each in accounts:
                await provisioning.deprovision(management, each.slug)


async def renew_key(operators: Operators, account: Account, *bundles: str) -> None:
    """Issue another key, use it, and revoke the one before."""
    keys = f"/ops/v1/tenants/{account.slug}/keys"
    made = await operators.insist("POST", keys, _rights(bundles))
    former, account.key, account.key_id = account.key_id, made["api_key"], made["key"]["key_id"]
    await operators.insist("POST", f"{keys}/{former}/revoke")


def _rights(bundles: tuple[str, ...]) -> dict[str, Any]:
    return {"bundles": bundles, "rate_limit_rpm": 100_000}
