"""A client of the stream that keeps a copy by the rules of `docs/stream.md`."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

Message = dict[str, Any]
_LISTS = {"event": "events", "round.finished": "rounds"}
_OPEN = ("active", "suspended")


class Folded:
    """`matches` as the match resource has them, `offers` by match as its markets, `settlements` by id;
    `last` is the highest seq received. With `skip_known`, a snapshot's frames with known seqs are skipped."""

    def __init__(self, *, skip_known: bool = False) -> None:
        self.matches: dict[str, Message] = {}
        self.offers: dict[str, dict[str, Message]] = {}
        self.settlements: dict[int, Message] = {}
        self.last = 0
        self.received: list[Message] = []
        self._skip_known = skip_known
        self._known = 0
        self._mentioned: set[tuple[str, str]] = set()

    def connected(self) -> None:
        """A new connection: seqs up to here are known."""
        self._known = self.last
        self._mentioned = set()

    def fold(self, frame: Message) -> None:
        """Fold a frame in."""
        kind, data, meta = frame["type"], frame["data"], frame["meta"]
        self.received.append(frame)
        shown = meta.get("snapshot")
        if shown and kind != "alive":
            self._mentioned.add((data.get("match_id") or data["id"], data.get("market_offer_id", "")))
        old = self._skip_known and shown and meta["seq"] <= self._known
        if kind == "alive" and shown:
            self._drop_unmentioned()
        elif not old:
            self._fold(kind, data)
        self.last = max(self.last, meta["seq"])

    def _fold(self, kind: str, data: Message) -> None:
        if kind.startswith("match."):
            self.matches[data["id"]] = data
        elif kind.startswith("market."):
            self._offer(data.pop("match_id"), data)
        elif kind == "bet_settlement":
            self.settlements[data["id"]] = data
        elif kind == "scoreboard.frame":
            match = self.matches.get(data["match_id"], {})
            if "scoreboard" in match:
                match["scoreboard"] = data["scoreboard"]
        elif name := _LISTS.get(kind) or _LISTS.get(kind.partition(".")[0]):
            self._happened(name, data.pop("match_id"), data)

    def _offer(self, match_id: str, market: Message) -> None:
        offers = self.offers.setdefault(match_id, {})
        offers.pop(market["market_offer_id"], None)
        if market["status"] in _OPEN:
            offers[market["market_offer_id"]] = market
        match = self.matches.get(match_id, {})
        if "markets" in match:
            others = [one for one in match["markets"] if one["market_offer_id"] != market["market_offer_id"]]
            match["markets"] = in_order([*others, *([market] if market["status"] in _OPEN else [])])

    def _happened(self, name: str, match_id: str, one: Message) -> None:
        match = self.matches.get(match_id, {})
        if name in match:
            deaths = other_deaths(match)
            others = [other for other in match[name] if other["id"] != one["id"]]
            match[name] = sorted([*others, one], key=lambda each: each["id"])
            match["player_stats"] = player_stats(match["events"], deaths)

    def _drop_unmentioned(self) -> None:
        """A snapshot has ended: what it did not mention is not there any more."""
        self.matches = {one: match for one, match in self.matches.items() if (one, "") in self._mentioned}
        self.offers = {
            match: {name: market for name, market in offers.items() if (match, name) in self._mentioned}
            for match, offers in self.offers.items()
        }


def in_order(markets: Iterable[Message]) -> list[Message]:
    return sorted(markets, key=lambda market: (market["id"], market["specifiers"]))


Who = tuple[str, str]  # team and name


def player_counts(events: Iterable[Message]) -> dict[Who, Counter[str]]:
    """The players' counts by a match's events."""
    counts: dict[Who, Counter[str]] = {}
    kills = [event for event in events if event["type"] == "kill"]
    seen = {event[who]: event[f"{who}_team"] for event in kills for who in ("actor", "target") if event[who]}
    for event in kills:
        team, other = event["actor_team"], event["target_team"]
        counts.setdefault((other, event["target"]), Counter()).update(deaths=1)
        if team != other:
            killer = counts.setdefault((team, event["actor"]), Counter())
            killer.update(kills=1, headshots=int(event["headshot"]))
        opponents = "team_b" if other == "team_a" else "team_a"
        assister = event.get("assister")
        if assister and seen.get(assister, opponents) == opponents:
            counts.setdefault((opponents, assister), Counter()).update(assists=1)
    return counts


def other_deaths(match: Message) -> dict[Who, int]:
    """Deaths without a killer: the match counts them, its events do not have them."""
    counts = player_counts(match.get("events", ()))
    rows = {(row["team"], row["name"]): row["deaths"] for row in match.get("player_stats", ())}
    more = {who: deaths - counts.get(who, Counter())["deaths"] for who, deaths in rows.items()}
    return {who: deaths for who, deaths in more.items() if deaths}


def player_stats(events: Iterable[Message], others: dict[Who, int]) -> list[Message]:
    """The match resource's `player_stats`, from its events and from the deaths without a killer."""
    names = ("kills", "deaths", "assists", "headshots")
    counts = player_counts(events)
    for who, deaths in others.items():
        counts.setdefault(who, Counter()).update(deaths=deaths)
    order = sorted(counts, key=lambda who: (who[0], -counts[who]["kills"], who[1]))
    return [
        {"name": name, "team": team} | {what: counts[team, name][what] for what in names}
        for team, name in order
    ]
