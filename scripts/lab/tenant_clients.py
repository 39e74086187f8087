"""What a tenant's clients do all day beside the feed.

`Copy` keeps the reference client's book by changes or the stream. `Requests` prices combinations, requests
cash-outs, claims results, which an operator answers, replays matches that are over, and reads what else
the service sells. Its responses are checked as those of people are (`person.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any
from uuid import uuid4

import httpx
from matchfeed_client import Book, Changes, Rest
from matchfeed_client.stream import Stream

from scripts.http_client import client
from scripts.lab.local_faults import FaultRecord
from scripts.lab.operators import Account, Operators
from scripts.lab.person import UnexpectedResponse, Visits

_CHANNELS = ("pages", "events", "stream")
_PAUSE = (0.2, 1.0)  #: seconds between two requests
_COMPARED_SECONDS = 60.0  #: until a copy equals what REST has on offer, once nothing happens any more
_REPLAYED_SECONDS = 180.0
_AGAIN_SECONDS = 1.0
_SHOWN = 5  #: differences of a copy
_MOST_LEGS = 4
_FINAL = ("completed", "stopped", "failed")
_MATCH_READS = (
    "",
    "/markets",
    "/prices?limit=100",
    "/rounds",
    "/settlements",
    "/stakes",
    "/summary",
    "/timeline",
)
_READS = (
    "/v1/status",
    "/v1/status/days",
    "/status.atom",
    "/v1/files",
    "/v1/ledger/heads",
    "/cs2/v1/teams",
    "/cs2/v1/players",
    "/cs2/v1/tournaments",
    "/cs2/v1/claims",
    "/cs2/v1/combinations",
    "/v1/sports/en/fixtures/changes",
)
#: What the present state of play explains: a market that has been suspended or closed since it was listed.
_MOVED_ON = (httpx.codes.CONFLICT, httpx.codes.UNPROCESSABLE_ENTITY)


class Copy:
    """A copy of what is on offer over one of `_CHANNELS`; `received` counts frames."""

    def __init__(self, account: Account, url: str, rest: Rest, channel: str) -> None:
        self.name, self.book, self.received = f"{account.slug} over {channel}", Book(), 0
        self._rest = rest
        self._frames = (
            Stream(url, account.key, book=self.book)
            if channel == "stream"
            else Changes(rest, book=self.book, events=channel == "events")
        )

    async def follow(self) -> None:
        """Without end. Raises `ClientError` where the service refuses the client."""
        async for _ in self._frames:
            self.received += 1

    async def differences(self) -> str:
        """How it differs from what REST has on offer, once nothing happens any more; empty if it does not."""
        found = None
        try:
            async with asyncio.timeout(_COMPARED_SECONDS):
                while self.book.stale or (found := await self._rest.compare(self.book.digest())).count:
                    await asyncio.sleep(0.5)
        except TimeoutError:
            return f"{self.name}: {found.differences[:_SHOWN] if found else 'not complete'}"
        return ""


class Requests:
    """The requests of one tenant; `visits` counts what was done, refused because play had moved on, and
    failed while a fault was on. `leave` ends `use`."""

    def __init__(
        self,
        account: Account,
        url: str,
        operators: Operators,
        record: FaultRecord,
        visits: Visits,
        rng: Random,
    ) -> None:
        self._account, self._operators, self._record, self._visits = account, operators, record, visits
        self._http, self._rng = client(url, account.key, 60), rng
        self._left = asyncio.Event()

    def leave(self) -> None:
        self._left.set()

    async def close(self) -> None:
        await self._http.aclose()

    async def use(self) -> None:
        """One act after another. Raises `UnexpectedResponse`."""
        acts = {self._read: 10, self._combine: 6, self._cash_out: 4, self._claim: 2, self._replay: 1}
        while not self._left.is_set():
            await self._rng.choices(list(acts), list(acts.values()))[0]()
            await asyncio.sleep(self._rng.uniform(*_PAUSE))

    async def _read(self) -> None:
        match = await self._match()
        paths = [*_READS, *(f"/cs2/v1/matches/{match}{part}" for part in _MATCH_READS if match)]
        await self._get(self._rng.choice(paths))
        self._visits.done["read"] += 1

    async def _combine(self) -> None:
        """Price a few markets together, the same once more, and look how the combination stands."""
        if not (match := await self._match()) or not (offers := await self._offers(match)):
            return
        chosen = self._rng.sample(offers, min(len(offers), self._rng.randint(2, _MOST_LEGS)))
        legs = [{"match_urn": match, "market_offer_id": each["market_offer_id"]} for each in chosen]
        body = {"legs": legs, "request_id": uuid4().hex}
        if (made := await self._send("/cs2/v1/combinations", body, "combination")) is None:
            return
        again = await self._send("/cs2/v1/combinations", body, "combination repeated")
        stored = (await self._get(f"/cs2/v1/combinations/{made['id']}")).json()["data"]
        for each in (again, stored):
            if each is None or (each["id"], each["odds"]) != (made["id"], made["odds"]):
                raise self._unexpected("the same combination again", f"{made}, then {each}")

    async def _cash_out(self) -> None:
        """What a bet on a market of a match in play is worth."""
        if not (match := await self._match()) or not (offers := await self._offers(match)):
            return
        market = self._rng.choice(offers)["market_offer_id"]
        bet = httpx.QueryParams(market=market, odds="2.105", stake="100")
        await self._get(f"/cs2/v1/matches/{match}/cashout?{bet}")
        self._visits.done["cash out"] += 1

    async def _claim(self) -> None:
        """Claim that a result is wrong; withdraw the claim, or an operator answers it."""
        if not (match := await self._match()):
            return
        found = (await self._get(f"/cs2/v1/matches/{match}/settlements?limit=1000")).json()["data"]
        results = [each for each in found if each.get("outcome") in ("won", "lost")]
        if not results:
            return
        result = self._rng.choice(results)
        body = {
            "match": match,
            "market_offer_id": result["market_offer_id"],
            "expected": "won" if result["outcome"] == "lost" else "lost",
            "reason": "the other team won it",
            "request_id": uuid4().hex,
        }
        if (claim := await self._send("/cs2/v1/claims", body, "claim")) is None:
            return
        if self._rng.random() < 0.5:
            await self._send(f"/cs2/v1/claims/{claim['id']}/withdraw", {}, "claim withdrawn")
        else:
            path = f"/ops/v1/claims/{claim['id']}/answer"
            await self._send(path, {"answer": "the log says so"}, "claim answered", self._operators.http)

    async def _replay(self) -> None:
        """Replay a match that is over as fast as it goes, and wait for its end."""
        found = (await self._get("/cs2/v1/replay/matches?limit=50")).json()["data"]
        if not found:
            return
        urn, node = self._rng.choice(found)["match"], self._rng.randint(1, 1000)
        path = f"/cs2/v1/replay/events/{urn}?node_id={node}"
        if (await self._checked("PUT", path, None, httpx.codes.UNPROCESSABLE_ENTITY)).is_success:
            body = {"node_id": str(node), "speed": 1000, "max_delay": 0}
            await self._send("/cs2/v1/replay/play", body, "replay")
            try:
                async with asyncio.timeout(_REPLAYED_SECONDS):
                    while (state := await self._replay_state(node)) not in _FINAL:
                        await asyncio.sleep(1)
            except TimeoutError as error:
                raise self._unexpected(path, f"not ended after {_REPLAYED_SECONDS:.0f} s") from error
            if state == "failed":
                raise self._unexpected(path, "the replay failed")

    async def _replay_state(self, node: int) -> str:
        replay = (await self._get(f"/cs2/v1/replay?node_id={node}")).json()["data"].get("replay")
        return str(replay["state"]) if replay else "stopped"

    async def _match(self) -> str | None:
        """The URN of one of the matches in play."""
        found = (await self._get("/cs2/v1/matches?status=live&limit=50")).json()["data"]
        return str(self._rng.choice(found)["urn"]) if found else None

    async def _offers(self, match: str) -> list[dict[str, Any]]:
        found = (await self._get(f"/cs2/v1/matches/{match}/markets")).json()["data"]
        return [each for each in found if each["status"] == "active"]

    async def _get(self, path: str) -> httpx.Response:
        return await self._checked("GET", path, None)

    async def _send(
        self, path: str, body: dict[str, Any], what: str, http: httpx.AsyncClient | None = None
    ) -> dict[str, Any] | None:
        """The data of the response; None where it is refused because play, or another, has moved on."""
        response = await self._checked("POST", path, body, *_MOVED_ON, http=http)
        counts = self._visits.done if response.is_success else self._visits.refused
        counts[what] += 1
        data: dict[str, Any] | None = response.json()["data"] if response.is_success else None
        return data

    async def _checked(
        self, method: str, path: str, body: Any, *allowed: int, http: httpx.AsyncClient | None = None
    ) -> httpx.Response:
        """A response of success or of `allowed`; sent again while a fault explains why there is none."""
        while True:
            began = self._record.now()
            try:
                response = await (http or self._http).request(method, path, json=body)
            except httpx.TransportError as error:
                problem = repr(error)
            else:
                if response.is_success or response.status_code in allowed:
                    return response
                problem = f"{response.status_code} {response.text[:500]}"
                if not response.is_server_error:
                    raise self._unexpected(f"{method} {path}", problem)
            if not self._record.touched(began):
                raise self._unexpected(f"{method} {path}", problem)
            self._visits.failed[problem.split("(")[0].split()[0]] += 1
            await asyncio.sleep(_AGAIN_SECONDS)

    def _unexpected(self, what: str, problem: str) -> UnexpectedResponse:
        return UnexpectedResponse(f"{self._record.now():.0f} s: {self._account.slug}: {what}: {problem}")


@asynccontextmanager
async def tenant_clients(
    accounts: Sequence[Account],
    operators: Sequence[Operators],
    record: FaultRecord,
    visits: Visits,
    seed: int,
) -> AsyncIterator[tuple[list[Copy], list[Requests]]]:
    """A copy over each channel, and requests, of the first tenants, which receive probabilities; the web
    processes alternate."""
    copies, requests = list[Copy](), list[Requests]()
    async with AsyncExitStack() as stack:
        for number, (account, channel) in enumerate(zip(accounts, _CHANNELS, strict=False)):
            operator = operators[number % len(operators)]
            path = f"/ops/v1/tenants/{account.slug}/probabilities"
            await operator.insist("PUT", path, {"probabilities": True})
            rest = await stack.enter_async_context(Rest(operator.base_url, account.key))
            copies.append(Copy(account, operator.base_url, rest, channel))
            rng = Random(f"requests {seed} {number}")
            requests.append(Requests(account, operator.base_url, operator, record, visits, rng))
            stack.push_async_callback(requests[-1].close)
        yield copies, requests
