"""What the client requests over HTTP: recoveries, the comparison of its book, combinations, what bets
are worth, prices, the ledger, replays, and daily files."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

_TIMEOUT_SECONDS = 10.0
#: An event stream has `alive` every ten seconds: two are missing.
_SILENCE_SECONDS = 30.0


_CHANGES = "/cs2/v1/changes"
_LEDGER_PAGE, _LEAVES_PAGE = 200, 1000


class ClientError(Exception):
    """Something that trying again cannot mend: a login or a key that is refused. The text says what to do."""


class Retry(Exception):
    """Something that trying again can mend, after so many seconds; 0: by the client's own rule."""

    def __init__(self, text: str, seconds: float = 0.0) -> None:
        super().__init__(text)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a book differs from the service: `count` differences, of which `differences` lists the first.

    A difference with `"behind": true` has a message on its way that explains it.
    """

    count: int
    markets: int
    differences: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """How a recovery's request was answered; `wait`: seconds after which another one makes sense."""

    accepted: bool
    too_old: bool = False
    wait: float = 0.0


class Rest:
    """The tenant's REST API. Use it as a context manager."""

    def __init__(
        self, base_url: str, api_key: str, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"X-API-Key": api_key},
            timeout=_TIMEOUT_SECONDS,
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def request_recovery(self, after: int, number: str) -> Answer:
        """Request everything since `after` (Unix milliseconds; 0: the present state only).

        Raises `ClientError` for a key that may not.
        """
        parameters: dict[str, str | int] = {"after": after, "request_id": number}
        try:
            response = await self._http.post("/cs2/v1/recovery/initiate_request", params=parameters)
        except httpx.TransportError:
            return Answer(accepted=False, wait=1.0)
        if response.status_code in (401, 403):
            raise ClientError(f"The key may not request recoveries: {_detail(response)}")
        if response.status_code == 422 and "too_old" in _codes(response):
            return Answer(accepted=False, too_old=True)
        if response.is_success:
            return Answer(accepted=True)
        # The Retry-After of a 409 is the latest moment at which the other recovery ends; mostly it is sooner.
        seconds = 3.0 if response.status_code == 409 else float(response.headers.get("Retry-After", 1))
        return Answer(accepted=False, wait=seconds)

    async def compare(self, digest: dict[str, Any]) -> Comparison:
        """Compare a book's digest with the service; raises `ClientError` for what is refused, and httpx's
        errors."""
        found = _data(await self._http.post("/cs2/v1/selfcheck", json=digest), "The comparison")
        return Comparison(found["count"], found["markets"], tuple(found["differences"]))

    async def combine(self, legs: Sequence[tuple[str, str]], request_id: str = "") -> dict[str, Any]:
        """Price and store a combination of these legs, each a match (`od:match:7`) and a market of it
        (`1:team=home`). The answer has its `id`, `odds`, `legs` and until when the price stands. With the
        same `request_id` it is made once, however often it is requested. Raises as `compare`."""
        named = [{"match_urn": match, "market_offer_id": market} for match, market in legs]
        body: dict[str, Any] = {"legs": named} | ({"request_id": request_id} if request_id else {})
        made: dict[str, Any] = _data(
            await self._http.post("/cs2/v1/combinations", json=body), "The combination"
        )
        return made

    async def combination(self, number: str) -> dict[str, Any]:
        """How a combination stands: its `status`, and the odds that it is paid at. Raises as `compare`."""
        found: dict[str, Any] = _data(
            await self._http.get(f"/cs2/v1/combinations/{number}"), "The combination"
        )
        return found

    async def cash_out(
        self, match: str, market: str, odds: Decimal, stake: Decimal, placed_at: datetime | None = None
    ) -> dict[str, Any]:
        """What a bet is worth now (`fair_value`), and what to offer for it (`cash_out`): both None while its
        market is suspended. For tenants that receive probabilities. Raises as `compare`."""
        parameters = {"market": market, "odds": str(odds), "stake": str(stake)}
        if placed_at is not None:
            parameters["placed_at"] = placed_at.isoformat()
        bet: dict[str, Any] = _data(
            await self._http.get(f"/cs2/v1/matches/{match}/cashout", params=parameters), "The bet"
        )
        return bet

    async def page_of_changes(self, parameters: Mapping[str, Any], wait: float) -> dict[str, Any]:
        """A page of `GET /cs2/v1/changes`, which the service may hold for `wait` seconds. Raises `Retry`,
        `ClientError` and httpx's errors."""
        response = await self._http.get(
            _CHANGES, params=_present(parameters), timeout=httpx.Timeout(_TIMEOUT_SECONDS + wait)
        )
        _raise_refusal(response)
        page: dict[str, Any] = response.json()
        return page

    @asynccontextmanager
    async def stream_of_changes(self, parameters: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of the same as server-sent events. Raises as `page_of_changes`."""
        headers = {"Accept": "text/event-stream"}
        timeout = httpx.Timeout(_TIMEOUT_SECONDS, read=_SILENCE_SECONDS)
        async with self._http.stream(
            "GET", _CHANGES, params=_present(parameters), headers=headers, timeout=timeout
        ) as response:
            if not response.is_success:
                await response.aread()
            _raise_refusal(response)
            yield _lines(response)

    async def prices(
        self, match: str, market: str | None = None, since_seq: int = 0
    ) -> AsyncIterator[dict[str, Any]]:
        """What happened after `since_seq` to the markets of a match, of a type, or of that name, until now:
        each price, suspension and result, in order. Raises as `compare`."""
        parameters: dict[str, str | int] = {} if market is None else {"market": market}
        more = True
        while more:
            response = await self._http.get(
                f"/cs2/v1/matches/{match}/prices", params=parameters | {"since_seq": since_seq}
            )
            for row in _data(response, "The history"):
                yield row
            page = response.json()["meta"]
            since_seq, more = page["next_since_seq"], page["more"]

    async def settlements(self, since_id: int = 0) -> AsyncIterator[dict[str, Any]]:
        """The entries of the settlement ledger after `since_id`, in order, until now. Raises as `compare`."""
        while True:
            parameters = {"since_id": since_id, "limit": _LEDGER_PAGE}
            response = await self._http.get("/cs2/v1/settlements", params=parameters)
            entries: list[dict[str, Any]] = _data(response, "The ledger")
            for entry in entries:
                yield entry
            if len(entries) < _LEDGER_PAGE:
                return
            since_id = entries[-1]["id"]

    async def ledger_leaves(self, day: date) -> AsyncIterator[dict[str, Any]]:
        """The rows of the signed ledger's leaves of a day, in order. Raises as `compare`."""
        begin = 0
        while rows := _data(
            await self._http.get(
                "/v1/ledger/leaves", params={"day": str(day), "from": begin, "limit": _LEAVES_PAGE}
            ),
            "The ledger",
        ):
            for row in rows:
                yield row
            begin += len(rows)

    async def ledger_heads(self, after: int = 0) -> AsyncIterator[dict[str, Any]]:
        """The signed heads with a higher number than `after`, in order. Raises as `compare`."""
        while rows := _data(
            await self._http.get("/v1/ledger/heads", params={"after": after, "limit": _LEAVES_PAGE}),
            "The ledger",
        ):
            for row in rows:
                yield row
            after = rows[-1]["number"]

    async def ledger_inclusion(self, day: str, index: int, size: int) -> dict[str, Any]:
        """The path from a leaf to the root of the day's first `size` leaves. Raises as `compare`."""
        parameters: dict[str, str | int] = {"day": day, "index": index, "size": size}
        found: dict[str, Any] = _data(
            await self._http.get("/v1/ledger/inclusion", params=parameters), "The proof"
        )
        return found

    async def start_replay(self, matches: Sequence[str], node: str, options: Mapping[str, Any]) -> int:
        """Make these matches the list of the node, and start its replay; the replay's number. Raises as
        `compare`."""
        query = {"node_id": node} if node else {}
        _data(await self._http.post("/cs2/v1/replay/clear", params=query), "The replay")
        for match in matches:
            added = await self._http.put(f"/cs2/v1/replay/events/{match}", params=query)
            _data(added, f"The replay of {match}")
        played = await self._http.post("/cs2/v1/replay/play", json=query | dict(options))
        return int(_data(played, "The replay")["id"])

    async def replay_state(self, node: str) -> dict[str, Any]:
        """The replay of the node that was started last: its `id` and `state`. Raises as `compare`."""
        query = {"node_id": node} if node else {}
        found: dict[str, Any] = _data(
            await self._http.get("/cs2/v1/replay", params=query), "The state of the replay"
        )
        return dict(found["replay"])

    async def files(self, day: date | None = None) -> list[dict[str, Any]]:
        """The daily files that the key may have, the newest day first: each with its `name`, `rows`, `size`,
        `sha256` and `columns`. Raises as `compare`."""
        query = {} if day is None else {"day": day.isoformat()}
        found: list[dict[str, Any]] = _data(await self._http.get("/v1/files", params=query), "The list")
        return found

    async def download(self, file: dict[str, Any], to: Path) -> None:
        """Download a file of the list to the path `to`, where it appears when it is complete.

        What is there of it already, in a file beside `to` whose name ends in `.part`, is not downloaded
        again: neither when the connection breaks off, nor when it is called once more after an error.
        Raises as `compare`, and `ClientError` if the file's SHA-256 is not that of the list."""
        part = to.with_name(f"{to.name}.part")
        while (have := _size(part)) < file["size"]:
            try:
                await self._append(file, part, have)
                break  # what the service has is here, all of it
            except httpx.TransportError:
                if _size(part) == have:
                    raise
        if await asyncio.to_thread(_sha256, part) != file["sha256"]:
            part.unlink()
            raise ClientError(f"{file['name']} is not what the list says: request the list again.")
        os.replace(part, to)

    async def _append(self, file: dict[str, Any], part: Path, have: int) -> None:
        """Append to `part`, which has so many bytes, what is missing; all of it if the file is another."""
        rest = {"Range": f"bytes={have}-", "If-Range": f'"{file["sha256"]}"'}
        async with self._http.stream("GET", f"/v1/files/{file['name']}", headers=rest) as response:
            if response.is_error:
                await response.aread()
                _data(response, "The file")
            with part.open("ab" if response.status_code == 206 else "wb") as written:
                async for piece in response.aiter_raw():
                    written.write(piece)


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """The lines of an event stream. httpx would end them at other characters, too, that names may have."""
    rest = ""
    async for text in response.aiter_text():
        *lines, rest = (rest + text).split("\n")
        for line in lines:
            yield line.removesuffix("\r")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _raise_refusal(response: httpx.Response) -> None:
    """Raise `Retry` or `ClientError` for what is no success."""
    if response.status_code == 429 or response.is_server_error:
        seconds = float(response.headers.get("Retry-After", 0))
        raise Retry(f"status {response.status_code}: {_detail(response)}", seconds)
    if not response.is_success:
        raise ClientError(f"Changes are refused: {_detail(response)}")


def _present(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _data(response: httpx.Response, what: str) -> Any:
    """The data of an answer. Raises `ClientError` for what is refused, and httpx's errors."""
    if response.is_client_error:
        raise ClientError(f"{what} is refused: {_detail(response)}")
    return response.raise_for_status().json()["data"]


def _detail(response: httpx.Response) -> str:
    """What the service says of a refusal: a sentence, or with 422 one for each field."""
    detail = _refusal(response)
    if isinstance(detail, list):
        return " ".join(str(field["msg"]) for field in detail)
    return str(detail or f"status {response.status_code}")


def _codes(response: httpx.Response) -> set[str]:
    """The codes of what is wrong with the fields of a request."""
    detail = _refusal(response)
    return {field["type"] for field in detail} if isinstance(detail, list) else set()


def _refusal(response: httpx.Response) -> Any:
    try:
        return response.json()["detail"]
    except (ValueError, KeyError, TypeError):  # of a proxy between us and the service
        return None
