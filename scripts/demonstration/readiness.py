"""When the demo is ready: enough live matches with open markets, upcoming matches and finished ones."""

from typing import Any

import httpx
import msgspec

ENOUGH = 3


class MatchCounts(msgspec.Struct, frozen=True):
    """How many matches there are of each kind; `live` counts those with an open market."""

    live: int
    upcoming: int
    finished: int

    def lacking(self) -> str:
        """Empty when these are enough, else what there is so far."""
        if min(self.live, self.upcoming, self.finished) >= ENOUGH:
            return ""
        return (
            f"{self.live} live with open markets, {self.upcoming} upcoming, {self.finished} finished so far"
        )


def unanswered(client: httpx.Client) -> str:
    """Empty when the web process serves the key that `client` sends, else what is wrong."""
    try:
        client.get("/v1/alive").raise_for_status()
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__
    return ""


def lacking(client: httpx.Client) -> str:
    """Empty when a tenant's key finds enough matches over REST, else what it finds so far."""
    try:
        return _match_counts(client).lacking()
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__


def _match_counts(client: httpx.Client) -> MatchCounts:
    """With few calls: the key has a rate limit."""
    live = _listing(client, "live")
    upcoming, finished = len(_listing(client, "upcoming")), len(_listing(client, "finished"))
    if min(len(live), upcoming, finished) < ENOUGH:
        return MatchCounts(len(live), upcoming, finished)
    return MatchCounts(sum(_is_open(client, match["id"]) for match in live), upcoming, finished)


def _listing(client: httpx.Client, status: str) -> list[dict[str, Any]]:
    answer = client.get("/cs2/v1/matches", params={"status": status, "limit": 10}).raise_for_status()
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


def _is_open(client: httpx.Client, match_id: str) -> bool:
    """Whether some market of the match is on offer."""
    answer = client.get(f"/cs2/v1/matches/{match_id}").raise_for_status()
    return any(market["status"] == "active" for market in answer.json()["data"].get("markets", ()))
