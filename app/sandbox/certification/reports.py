"""What a client reports, what would be right, and how both differ.

The book has the shape that `POST /cs2/v1/selfcheck` takes. `results` are those of every bet's market that has
one: what holds at this moment, and how often bets on it are paid at present, which is once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
import msgspec

from app.wire.views.selfcheck import ClientMatch

_PAGE = 200
_URN = "od:match:"
Status = Literal["settled", "voided"]


class ReportedResult(msgspec.Struct, frozen=True):
    """A market with a result: `outcome` is `won` or `lost` where it is settled. `paid`: how many settlements
    or refunds of it stand. `void_windows`: `[start, end]` of each window whose bets are void."""

    match: str
    market: int
    specifiers: str
    status: Status | Literal["pending"]
    outcome: str | None = None
    paid: int = 1
    void_windows: list[tuple[int, int]] = []


class Report(msgspec.Struct, frozen=True):
    """A client's report; `name` and `version` are the client's, for the certificate. Without `results` the
    book alone is compared."""

    matches: tuple[ClientMatch, ...]
    results: list[ReportedResult] | None = None
    name: str = ""
    version: str = ""


def decode(raw: bytes) -> Report:
    """Raises `msgspec.ValidationError` or `msgspec.DecodeError`, whose texts name the field."""
    return msgspec.json.decode(raw, type=Report)


Key = tuple[str, int, str]  #: match, market, specifiers


@dataclass(frozen=True)
class Difference:
    """A wrong market: what the client has, and what is right."""

    match: str
    market: int
    specifiers: str
    yours: str
    ours: str

    @property
    def name(self) -> str:
        return f"{self.match} market {self.market} {self.specifiers}".rstrip()


@dataclass(frozen=True)
class Result:
    """What holds of a market; `id` is the ledger's newest entry about it, 0 in a report."""

    status: str
    outcome: str | None
    paid: int
    windows: tuple[tuple[int, int], ...]
    id: int = field(default=0, compare=False)

    def __str__(self) -> str:
        text = " ".join(part for part in (self.status, self.outcome or "") if part)
        if self.paid != (self.status != "pending"):
            text += f", paid {self.paid} times"
        windows = ", ".join(f"{start} to {end}" for start, end in self.windows)
        return f"{text}, bets void from {windows}" if windows else text


_NONE = Result("pending", None, 0, ())


class Truth:
    """What the service has, for one key; `client` has the service's address and the key. Results of
    which the ledger says nothing since `begin` are not compared."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._begun_after = self._last_id = 0
        self._results: dict[Key, Result] = {}
        self._windows: dict[Key, set[tuple[int, int]]] = {}
        self._urns: dict[str, str] = {}

    async def begin(self) -> None:
        """Results from now on are required."""
        await self._read_ledger()
        self._begun_after = self._last_id

    def use(self, api_key: str) -> None:
        """Ask with this key from now on."""
        self._client.headers["X-Api-Key"] = api_key

    async def differences(self, report: Report, *, results: bool = True) -> list[Difference]:
        """All wrong markets of a report, with or without its results; raises httpx's errors."""
        found = await self._book(report)
        if results and report.results is not None:
            await self._read_ledger()
            urns = await self._named(each.match for each in report.results)
            found += _wrong_results(self._results, report.results, urns, self._begun_after)
        return found

    async def _named(self, matches: Iterable[str]) -> dict[str, str]:
        """The `od:match:<n>` of matches by their UUIDs; those that are called so are not looked up."""
        if any(not match.startswith(_URN) and match not in self._urns for match in matches):
            for status in ("upcoming", "live", "finished", "cancelled"):
                answer = await self._client.get("/cs2/v1/matches", params={"status": status, "limit": 100})
                for match in answer.raise_for_status().json()["data"]:
                    self._urns[match["id"]] = match["urn"]
        return self._urns

    def uuid(self, urn: str) -> str:
        """The UUID of a match that was reported by it; "" for another one."""
        return next((uuid for uuid, found in self._urns.items() if found == urn), "")

    async def _book(self, report: Report) -> list[Difference]:
        digest = {
            "matches": [
                {"match": each.match, "markets": msgspec.to_builtins(each.markets)} for each in report.matches
            ]
        }
        answer = await self._client.post("/cs2/v1/selfcheck", json=digest | {"complete": True})
        if answer.status_code == 400 or answer.status_code == 422:
            return [Difference("", 0, "", "a book that cannot be read", answer.text[:300])]
        differences = answer.raise_for_status().json()["data"]["differences"]
        urns = await self._named(each["match"] for each in differences)
        return [
            Difference(
                urns.get(each["match"], each["match"]),
                each["id"],
                each["specifiers"],
                _quote(each.get("yours")),
                _quote(each.get("ours")),
            )
            for each in differences
        ]

    async def _read_ledger(self) -> None:
        """Fold what the ledger has said since it was last read: the result of each market, and the windows
        that stand."""
        entries: list[dict[str, Any]] = [{}]
        while entries:
            parameters = {"since_id": self._last_id, "limit": _PAGE}
            answer = await self._client.get("/cs2/v1/settlements", params=parameters)
            entries = answer.raise_for_status().json()["data"]
            for entry in entries:
                self._fold(entry)

    def _fold(self, entry: dict[str, Any]) -> None:
        key = entry["match_urn"], entry["market_id"], entry["specifiers"]
        if window := entry.get("void_window"):
            change = set.discard if window.get("rolled_back") else set.add
            change(self._windows.setdefault(key, set()), (window["start_time"], window["end_time"]))
        standing = tuple(sorted(self._windows.get(key, ())))
        status = entry["new_status"]
        outcome = entry["outcome"] if status == "settled" else None
        self._results[key] = Result(status, outcome, int(status != "pending"), standing, entry["id"])
        self._last_id = entry["id"]


def _wrong_results(
    right: dict[Key, Result], reported: Iterable[ReportedResult], urns: dict[str, str], after: int
) -> list[Difference]:
    theirs = {
        (urns.get(each.match, each.match), each.market, each.specifiers): Result(
            each.status, each.outcome, each.paid, tuple(sorted(each.void_windows))
        )
        for each in reported
    }
    return [
        Difference(*key, str(theirs.get(key, _NONE)), str(right.get(key, _NONE)))
        for key in sorted(theirs.keys() | right.keys())
        if (key not in right or right[key].id > after) and right.get(key, _NONE) != theirs.get(key, _NONE)
    ]


def _quote(quote: dict[str, Any] | None) -> str:
    if quote is None:
        return "not on offer"
    return f"open at {quote['odds']}" if quote["status"] == 1 else "suspended"
