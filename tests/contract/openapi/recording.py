"""Answers of the service to what its own documents give as examples, shortened to be read.

Requested from the application in this process, on a database with `tests.support.world` in it.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import date
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import httpx
import msgspec
from lxml import etree

from app.access import admin
from app.access.api_keys import KeyProperties
from app.broker.management import Management
from app.claims.request import ClaimService, WantedClaim
from app.domain.daily_files import DAY_MILLIS, begin_of
from app.domain.market import Result
from app.files import making
from app.files.directory import FileDirectory
from app.http.openapi.components import PARAMETERS
from app.http.openapi.document import Examples
from app.kit.clock import system_clock, to_datetime
from app.ledger.writer import LedgerWriter
from app.settings import Settings
from app.store import matches, tenants
from app.store.connections import Store, open_store
from tests.contract.openapi.present import Json, followed, operations
from tests.support import world
from tests.support.clocks import ManualClock
from tests.support.queues import private_vhost
from tests.support.web import issuing, serving

TENANT, OPERATOR = "acme", "house"
_OVER = "od:match:2"  #: a match of the world that can be replayed
_BUNDLES = ("cs2.odds.basic", "cs2.odds.scoreboard-addon", "cs2.stats")
_SPORTS = ("cs2", "soccer")
_SHOWN = 2  #: items of a list that an example shows
_SECRET = re.compile(r"(?<=token=)[\w.~-]+|(?<=amqp://op-acme:)[^@]+|(?<=mfk_)[A-Za-z0-9]{20,}")


class Asker:
    """Sends the requests that a document describes, with the key in `headers`."""

    def __init__(self, client: httpx.AsyncClient, store: Store, secret: str, headers: dict[str, str]) -> None:
        self._client, self._store, self._secret, self._headers = client, store, secret, headers
        self._nodes = count(1)
        self._rounds = count(1)  #: of the match that is over; each has a result

    async def examples(self, document: Json) -> dict[str, Examples]:
        """By operation, the answer in each of its formats; operations that refuse their own example are
        left out."""
        found = {}
        for path, method, operation in sorted(operations(document), key=_order):
            answers: Json = {}
            for kind in _kinds(operation):
                response = await self._request(document, path, method, operation, kind)
                if response.is_success:
                    answers[kind] = shortened(response)
            found[operation["operationId"]] = answers
        return {name: answers for name, answers in sorted(found.items()) if answers}

    async def _request(
        self, document: Json, path: str, method: str, operation: Json, kind: str
    ) -> httpx.Response:
        sent: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}}
        for parameter in operation["parameters"]:
            described = followed(document, parameter)
            if described["required"] or described["name"] in ("limit", "parts"):
                sent[described["in"]][described["name"]] = described["example"]
        if "key_id" in sent["path"]:
            sent["path"]["key_id"] = str(await self._fresh_key())
        if "combination_id" in sent["path"]:
            sent["path"]["combination_id"] = await self._made("/cs2/v1/combinations", document)
        if "claim_id" in sent["path"]:
            own = path.startswith("/cs2/")
            claim = self._made("/cs2/v1/claims", document) if own else self._claim()
            sent["path"]["claim_id"] = await claim
        if "/replay" in path:
            if any(followed(document, one)["name"] == "node_id" for one in operation["parameters"]):
                sent["query"]["node_id"] = "7"
            if "event_id" in sent["path"]:
                sent["path"]["event_id"] = _OVER
            await self._prepare_replay(path, method)
        if path.endswith("/initiate_request"):
            sent["query"]["node_id"] = str(next(self._nodes))
        if "report_id" in sent["path"]:
            sent["path"]["report_id"] = await self._report()
        content = operation.get("requestBody", {}).get("content", {})
        body = next((one.get("example") for one in content.values()), None)
        as_xml = "application/xml" in content
        return await self._client.request(
            method,
            path.format(**sent["path"]),
            params=sent["query"],
            headers=self._headers | {"Accept": kind},
            json=None if as_xml else body,
            content=body if as_xml else None,
            timeout=30,
        )

    async def _claim(self) -> UUID:
        """The id of a claim of the tenant about the result of one more round."""
        key = 13, f"map=1|round={next(self._rounds)}|team=home"
        wanted = WantedClaim(key=key, expected=Result.VOID, reason="the round was played again")
        service = ClaimService(self._store, system_clock, deadline_minutes=30, per_tenant=100)
        async with self._store.autocommit() as tx:
            tenant = await tenants.by_slug(tx, TENANT)
        made = await service.make(tenant, lambda tx: matches.by_ref(tx, _OVER), wanted, by="tester")
        return made.id

    async def _made(self, path: str, document: Json) -> str:
        """The id of what the document's own example makes there: the same at every call."""
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
        made = await self._client.post(path, json=body, headers=self._headers)
        return str(made.raise_for_status().json()["data"]["id"])

    async def _report(self) -> str:
        """The id of the first import of reference data."""
        listed = await self._client.get("/ops/v1/reference/reports", headers=self._headers)
        return str(listed.json()["data"][-1]["id"])

    async def _prepare_replay(self, path: str, method: str) -> None:
        """A match in the list of the node of the examples; nothing runs before a replay is started, and one
        runs before its state is requested."""
        node = {"node_id": "7"}
        before = [("PUT", f"/cs2/v1/replay/events/{_OVER}")]
        if path.endswith("/play") or method == "get":
            before.append(("POST", "/cs2/v1/replay/stop"))
        if method == "get":
            before.append(("POST", "/v1/replay/play"))
        for one, address in before:
            await self._client.request(one, address, params=node, headers=self._headers)

    async def _fresh_key(self) -> UUID:
        properties = KeyProperties(bundles=("cs2.odds.basic",), label="trading desk")
        async with self._store.transaction() as tx:
            issued = await admin.issue_key(tx, TENANT, properties, secret=self._secret, by="tester", now=1)
        return issued.key.id


def _order(one: tuple[str, str, Json]) -> tuple[bool, int, str]:
    """Recoveries are requested before their progress is, the canonical one last, because the newest is
    returned, a combination or a claim before the list, and an import before its reports; what ends access or
    deletes comes last."""
    path, method, _ = one
    ends = path.endswith(("/revoke", "/cancel", "/trim"))
    if path.endswith("/initiate_request") or (
        path.endswith(("/combinations", "/claims", "/reference")) and method == "post"
    ):
        return ends, 1 if path.startswith("/cs2/") else 0, path
    return ends, 2 if method == "get" else 3, path


def _kinds(operation: Json) -> list[str]:
    """The formats of a successful response, as far as an example of them is useful: not those
    of a document about itself."""
    if operation["operationId"].endswith(("_openapi", "_openapi_json", "_asyncapi")):
        return []
    answer = operation["responses"][min(operation["responses"])]
    recorded = ("application/json", "application/xml", "text/csv")
    return [kind for kind in answer.get("content", {}) if kind in recorded]


def shortened(response: httpx.Response) -> Any:
    """The body with short lists, and without what was secret."""
    if response.headers["content-type"] == "application/json":
        text = _SECRET.sub("…", response.text)
        return _short(msgspec.json.decode(text))
    if response.headers["content-type"].startswith("text/csv"):
        return "".join(response.text.splitlines(keepends=True)[: _SHOWN + 1])
    return _SECRET.sub("…", _short_xml(response.content))


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value[:_SHOWN]] if isinstance(value, list) else value


def _short_xml(document: bytes) -> str:
    root = etree.fromstring(document)
    for parent in list(root.iter()):
        seen: dict[str, int] = {}
        for child in list(parent):
            seen[child.tag] = seen.get(child.tag, 0) + 1
            if seen[child.tag] > _SHOWN:
                parent.remove(child)
    etree.indent(root)
    return etree.tostring(root, encoding="unicode")


@asynccontextmanager
async def _with_files(settings: Settings) -> AsyncIterator[Settings]:
    """The settings, with a directory of daily files."""
    with TemporaryDirectory() as place:
        yield msgspec.structs.replace(settings, files_directory=place)


async def make_files(store: Store, directory: Path) -> None:
    """Those of today, as if it was over."""
    now = system_clock()
    day = to_datetime(now).date()
    await making.make_day(store, FileDirectory(directory), day, lambda: now + 2 * DAY_MILLIS)


async def write_ledger(store: Store, secret: str) -> None:
    """That of the day in the examples: all leaves, with a head before and after them."""
    day = begin_of(date.fromisoformat(PARAMETERS["day"].example))
    for now in (day, day + 3_600_000):
        await LedgerWriter(store, secret, ManualClock(now)).catch_up()


async def examples(settings: Settings, documents: Mapping[str, Json]) -> dict[str, Examples]:
    """Examples of all operations of the documents `public` and `operators`, from a service on the empty
    database that `settings` name."""
    async with (
        private_vhost(settings) as private,
        await open_store(settings.database_url, 4) as store,
        _with_files(private) as served,
        serving(served) as client,
    ):
        await world.made(store)
        issue = issuing(store, settings.secret_key)
        keys = {
            "public": await issue(TENANT, bundles=_BUNDLES, sports=_SPORTS, probabilities=True),
            "operators": await issue(OPERATOR, bundles=("cs2.operator",), sports=_SPORTS),
        }
        await make_files(store, Path(served.files_directory))
        await write_ledger(store, settings.secret_key)
        headers = {"X-API-Key": keys["operators"]}
        (await client.post(f"/ops/v1/tenants/{TENANT}/amqp", headers=headers, timeout=30)).raise_for_status()
        try:
            found: dict[str, Examples] = {}
            for name, document in documents.items():
                asker = Asker(client, store, settings.secret_key, {"X-API-Key": keys[name]})
                found |= await asker.examples(document)
            return found
        finally:
            async with Management(settings.rabbitmq_api_url) as management:
                await management.delete_vhost(TENANT)
                await management.delete_user(f"op-{TENANT}")
