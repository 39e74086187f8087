"""What a visitor finds at any time: matches being played with markets open, matches to come, matches over."""

from typing import Any

import httpx
import msgspec

ENOUGH = 3


class Programme(msgspec.Struct, frozen=True):
    """How many matches there are of each kind; `live` counts those with an open market."""

    live: int = 0
    upcoming: int = 0
    finished: int = 0

    @property
    def kept(self) -> bool:
        return min(self.live, self.upcoming, self.finished) >= ENOUGH


def answers(client: httpx.Client) -> bool:
    """Whether the web process serves the key that `client` carries."""
    try:
        return client.get("/v1/alive").status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def look(client: httpx.Client) -> Programme:
    """The programme as a tenant's key sees it over REST."""
    try:
        live = [_detail(client, match["id"]) for match in _listing(client, "live")]
        return Programme(
            sum(any(market["status"] == "active" for market in match.get("markets", ())) for match in live),
            len(_listing(client, "upcoming")),
            len(_listing(client, "finished")),
        )
    except httpx.HTTPError:
        return Programme()


def _listing(client: httpx.Client, status: str) -> list[dict[str, Any]]:
    answer = client.get("/cs2/v1/matches", params={"status": status, "limit": 10}).raise_for_status()
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


def _detail(client: httpx.Client, match_id: str) -> dict[str, Any]:
    answer = client.get(f"/cs2/v1/matches/{match_id}").raise_for_status()
    match: dict[str, Any] = answer.json()["data"]
    return match
