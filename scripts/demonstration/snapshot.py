"""What the terminal's board shows, read over REST as any client would, and from the bookmaker's report."""

import time
from typing import Any

import httpx
import msgspec

from app.domain import catalogue
from app.domain.market import specifier_values

from . import report as reports
from .paths import BOOKMAKER
from .report import Report

_SETTLEMENTS = 4
_FRESH_SECONDS = 6.0


class Price(msgspec.Struct):
    """An offer of the match in view. `way` is 1 for a rise, -1 for a fall, when it moved last."""

    name: str
    odds: float
    active: bool
    reason: str
    way: int = 0
    moved_at: float = 0.0

    @property
    def fresh(self) -> bool:
        return time.monotonic() - self.moved_at < _FRESH_SECONDS


class Settled(msgspec.Struct, frozen=True):
    """A settlement, and the facts that it rests on as text."""

    name: str
    outcome: str
    reason: str
    rests_on: tuple[str, ...]


class Snapshot(msgspec.Struct):
    """`matches` are those being played, as REST shows them; `view` is the one whose prices are shown."""

    matches: list[dict[str, Any]] = []
    view: dict[str, Any] | None = None
    prices: list[Price] = []
    settled: list[Settled] = []
    report: Report | None = None
    trouble: str = ""


class Reader:
    """Reads one snapshot after another; the match in view stays until it is over."""

    def __init__(self, base_url: str, key: str) -> None:
        self._client = httpx.Client(base_url=base_url, headers={"X-API-Key": key}, timeout=5, trust_env=False)
        self._names = {market.id: market for market in catalogue.load().markets}
        self._known: dict[str, Price] = {}
        self._players: dict[str, str] = {}  #: names by URN
        self._view = ""

    def read(self) -> Snapshot:
        snapshot = Snapshot(report=reports.read(BOOKMAKER))
        try:
            listed = self._get("/cs2/v1/matches", status="live", limit=8)
            snapshot.matches = [self._get(f"/cs2/v1/matches/{row['id']}") for row in listed]
            self._look_at(snapshot)
        except httpx.HTTPError as error:
            snapshot.trouble = f"REST: {error or type(error).__name__}"
        return snapshot

    def _look_at(self, snapshot: Snapshot) -> None:
        found = [match for match in snapshot.matches if match["id"] == self._view] or snapshot.matches[:1]
        if not found:
            return
        (view,) = found
        if view["id"] != self._view:
            self._view, self._known = view["id"], {}
        snapshot.view = view
        snapshot.prices = self._prices(view)
        ledger = self._ledger(view["id"])
        snapshot.settled = [self._settled(entry, view) for entry in reversed(ledger[-_SETTLEMENTS:])]

    def _prices(self, view: dict[str, Any]) -> list[Price]:
        """Those that moved last come first."""
        now, found = time.monotonic(), {}
        for market in view.get("markets", ()):
            name = market["market_offer_id"]
            old, odds = self._known.get(name), market["odds"]
            price = Price(
                self._name(market["id"], market["specifiers"], view),
                odds,
                market["status"] == "active",
                market.get("suspended_reason", ""),
                way=(odds > old.odds) - (odds < old.odds) or old.way if old else 0,
                moved_at=now if old and odds != old.odds else old.moved_at if old else 0.0,
            )
            found[name] = price
        self._known = found
        return sorted(found.values(), key=lambda price: (not price.active, -price.moved_at, price.name))

    def _settled(self, entry: dict[str, Any], view: dict[str, Any]) -> Settled:
        facts = {fact["id"]: fact for fact in (*view.get("events", ()), *view.get("rounds", ()))}
        rests_on = tuple(
            fact_in_words(facts[number], view) for number in entry["rests_on"] if number in facts
        )
        name = self._name(entry["market_id"], entry["specifiers"], view)
        return Settled(name, _outcome(entry), entry["reason"], rests_on)

    def _name(self, type_id: int, specifiers: str, view: dict[str, Any]) -> str:
        values = specifier_values(specifiers)
        if "team" in values:
            values["team"] = view["team_a"] if values["team"] == "home" else view["team_b"]
        if "player" in values:
            values["player"] = self._player(values["player"])
        return self._names[type_id].render("en", values)

    def _player(self, urn: str) -> str:
        known = self._players.get(urn)
        if known is None:
            known = self._players[urn] = self._get(f"/cs2/v1/players/{urn}")["name"]
        return known

    def _ledger(self, match_id: str) -> list[dict[str, Any]]:
        """The match's settlements, oldest first."""
        found, cursor = [], "0"
        while cursor:
            page = self._answer(f"/cs2/v1/matches/{match_id}/settlements", limit=1000, cursor=cursor)
            found += page["data"]
            cursor = page["meta"].get("next_cursor", "")
        return found

    def _get(self, path: str, **query: Any) -> Any:
        return self._answer(path, **query)["data"]

    def _answer(self, path: str, **query: Any) -> Any:
        return self._client.get(path, params=query).raise_for_status().json()


def fact_in_words(fact: dict[str, Any], view: dict[str, Any]) -> str:
    """One fact of a match as text."""
    if fact.get("type") == "kill":
        how = " (headshot)" if fact.get("headshot") else ""
        return f"round {fact['round']}: {fact['actor']} killed {fact['target']} with {fact['weapon']}{how}"
    if "type" in fact:
        return f"round {fact['round']}: {fact['type'].replace('_', ' ')} {fact.get('actor', '')}".rstrip()
    winner = view[fact["winner"]] if fact.get("winner") else fact["winning_side"]
    score = f"{fact['score_a']}:{fact['score_b']}"
    return f"round {fact['round']}: won by {winner} ({fact['win_reason']}), {score}"


def _outcome(entry: dict[str, Any]) -> str:
    if window := entry.get("void_window"):
        return "bets stand" if window["rolled_back"] else "void bets"
    return entry["outcome"] or ("void" if entry["new_status"] == "voided" else "taken back")
