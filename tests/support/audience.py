"""Clients of several web processes, which check that all processes send the same."""

import asyncio
from itertools import count
from typing import Any

import httpx
import jsonschema_rs

from app.channels.stream.asyncapi import stream_document
from app.store.connections import Store
from tests.support.eventually import eventually
from tests.support.folding import Folded, Message
from tests.support.streaming import next_frame, subscribed


def frame_schemas() -> dict[str, Any]:
    """By type, the JSON Schema of whole frames as the document has it, complete in itself."""
    components = stream_document()["components"]
    return {
        message["name"]: {**message["payload"], "components": {"schemas": components["schemas"]}}
        for message in components["messages"].values()
    }


SCHEMAS = {kind: jsonschema_rs.validator_for(schema) for kind, schema in frame_schemas().items()}


class Service:
    """Two web processes on one database, and keys of every kind."""

    def __init__(self, hosts: list[str], store: Store, keys: dict[str, str]) -> None:
        self.hosts, self.store, self.keys = hosts, store, keys
        self.sent: dict[tuple[str, int], tuple[str, str]] = {}
        self.names = count()

    async def rest(self, key: str, path: str) -> tuple[int, Any]:
        async with httpx.AsyncClient(base_url=f"http://{self.hosts[0]}/cs2/v1") as client:
            response = await client.get(path, headers={"X-API-Key": self.keys[key]})
        return response.status_code, response.json().get("data")

    def check(self, key: str, frame: Message) -> None:
        """Check that a frame fits its schema, and that every process sends the same under one seq."""
        kind, data, meta = frame["type"], frame["data"], frame["meta"]
        SCHEMAS[kind].validate(frame)
        if kind == "alive" or "snapshot" in meta:
            return
        what = data["id"] if kind.startswith("match.") else meta["hash"]
        known = self.sent.setdefault((key, meta["seq"]), (kind, what))
        assert known == (kind, what)


class Client:
    """A client with one key and one subscription, connected or not."""

    def __init__(self, service: Service, key: str, ref: str, skip_known: bool) -> None:
        self.service, self.key, self.ref = service, key, ref
        self.folded = Folded(skip_known=skip_known)
        self.begun: int | None = None
        self._task: asyncio.Task[None] | None = None
        self.failure: BaseException | None = None

    @property
    def connected(self) -> bool:
        return self._task is not None

    async def connect(self, host: str, resume: bool) -> None:
        self.folded.connected()
        since = self.folded.last if resume and self.begun is not None else None
        self._task = asyncio.create_task(self._listen(host, since))

    async def leave(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
        if self.failure:
            raise self.failure

    async def caught_up(self, head: int) -> None:
        async def last() -> int:
            if self.failure:
                raise self.failure
            return self.folded.last

        await eventually(last, lambda seen: seen >= head)

    async def _listen(self, host: str, since: int | None) -> None:
        try:
            async with subscribed(host, self.service.keys[self.key], self.ref, since) as client:
                newest = 0
                while True:
                    frame = await next_frame(client)
                    seq = frame["meta"]["seq"]
                    assert (
                        seq >= newest
                        if frame["type"] == "alive" or "snapshot" in frame["meta"]
                        else seq > newest
                    )
                    newest = seq
                    self.service.check(self.key, frame)
                    self.folded.fold(frame)
                    if frame["type"] == "alive" and frame["meta"].get("snapshot"):
                        self.begun = seq
        except Exception as error:
            self.failure = error
