"""A match whose server log is the real one, sent over HTTP as a game server does."""

from typing import Any

import httpx

from tests.support.eventually import eventually
from tests.support.logs import cut

HOME, AWAY = "rvls test team 1", "rvls test 2"
LINES_A_BODY = 25


class RealMatch:
    """Sends the log's bodies one after another; `get` reads the match from the service."""

    def __init__(
        self, client: httpx.AsyncClient, headers: dict[str, str], made: dict[str, Any], log: str
    ) -> None:
        self._client, self._headers = client, headers
        self.id, self._sink = made["id"], made["log_sink_url"]
        self._bodies = list(cut(log.encode(), LINES_A_BODY))
        self._offset = 0

    async def get(self, path: str = "") -> Any:
        answer = await self._client.get(f"/cs2/v1/matches/{self.id}{path}", headers=self._headers)
        return answer.json()["data"]

    async def send(self, until: str | None = None) -> None:
        """Send up to the first body that contains `until` (that one too), or all that is left."""
        while self._bodies:
            body = self._bodies.pop(0)
            await self._post(body)
            if until is not None and until.encode() in body:
                return

    async def finished(self) -> Any:
        return await eventually(self.get, lambda seen: seen["status"] == "finished", seconds=60)

    async def _post(self, body: bytes) -> None:
        """Post one body, again until it is taken."""
        headers = {
            "X-Server-Instance-Token": "run",
            "X-Logbytes-Beginoffset": str(self._offset),
            "X-Logbytes-Endoffset": str(self._offset + len(body)),
        }

        async def post() -> int:
            return (await self._client.post(self._sink, content=body, headers=headers)).status_code

        await eventually(post, lambda status: status == 200)
        self._offset += len(body)


async def create(client: httpx.AsyncClient, key: str, log: str) -> RealMatch:
    """The match, created with an operator's key."""
    headers = {"X-API-Key": key}
    body = {"team_a": HOME, "team_b": AWAY, "event": "Test Cup", "home_strength": 1500, "away_strength": 1500}
    answer = await client.post("/ops/v1/matches", headers=headers, json=body)
    return RealMatch(client, headers, answer.json()["data"], log)
