"""What a client receives, in which order and with which seq."""

import httpx
import msgspec
from msgspec.structs import replace

from app.domain.changes import MatchStarted
from app.domain.entrants import Competitor
from app.domain.match import Status
from app.store import entrants
from tests.support.stored import put_entrants
from tests.support.story import Story, offer
from tests.support.streaming import Message, next_frame, shown_by_rest, subscribed, until_alive, until_present
from tests.support.web import IssueKey


def brief(frame: Message) -> tuple[str, str]:
    """A frame's type, and the match that it names."""
    data = frame["data"]
    return frame["type"], data["id"] if frame["type"].startswith("match.") else data["match_id"]


async def test_a_snapshot_and_then_what_changes(host: str, raw: str, story: Story) -> None:
    live, upcoming = await story.match(), await story.match(status=Status.UPCOMING)
    await story.offer(live, offer(1))
    await story.offer(upcoming, offer(2))
    async with subscribed(host, raw) as client:
        *shown, alive = await until_alive(client)
        assert sorted(map(brief, shown)) == sorted(
            [
                ("match.updated", str(live.id)),
                ("market.updated", str(live.id)),
                ("market.updated", str(upcoming.id)),
            ]
        )
        assert all(frame["meta"]["snapshot"] is True for frame in (*shown, alive))
        seqs = [frame["meta"]["seq"] for frame in (*shown, alive)]
        assert seqs == sorted(seqs)
        await story.settle(live, offer(1))
        settled, market = await next_frame(client), await next_frame(client)
        assert brief(settled) == ("bet_settlement", str(live.id))
        assert brief(market) == ("market.updated", str(live.id))
        assert market["data"]["status"] == "settled"
        assert alive["meta"]["seq"] < settled["meta"]["seq"] < market["meta"]["seq"]
        assert settled["data"]["id"] == settled["meta"]["seq"]
        assert "snapshot" not in market["meta"]


async def test_a_settlement_looks_as_rest_shows_it(host: str, raw: str, story: Story) -> None:
    match = await story.match(offer(1))
    async with subscribed(host, raw) as client:
        await until_alive(client)
        await story.settle(match, offer(1))
        settled = await next_frame(client)
    (entry,) = await shown_by_rest(host, raw, f"/cs2/v1/matches/{match.id}/settlements")
    (listed,) = await shown_by_rest(host, raw, "/cs2/v1/settlements")
    assert settled["data"] == entry == listed


async def test_a_match_has_its_teams_logos_as_rest_shows_them(host: str, raw: str, story: Story) -> None:
    teams = [Competitor(11, "Northwind", icon_url="https://img.example/old.png"), Competitor(12, "Harbour")]
    await put_entrants(story.store, entrants.TEAMS, *teams)
    match = await story.match()
    await story.happen(match, home_id=11, away_id=12)
    async with subscribed(host, raw) as client:
        (snapshot, _) = await until_alive(client)
        renewed = replace(teams[0], icon_url="https://img.example/new.png")
        await put_entrants(story.store, entrants.TEAMS, renewed)
        await story.happen(match, MatchStarted(), best_of=5)
        changed = await next_frame(client)
    shown = await shown_by_rest(host, raw, f"/cs2/v1/matches/{match.id}")
    assert changed["data"] == shown
    logos = [(one["team_a_logo"], one["team_b_logo"]) for one in (snapshot["data"], shown)]
    assert logos == [("https://img.example/old.png", None), ("https://img.example/new.png", None)]


async def test_the_stream_of_one_match_carries_no_other(host: str, raw: str, story: Story) -> None:
    watched, other = await story.match(), await story.match()
    async with subscribed(host, raw, str(watched.id)) as client:
        shown = await until_alive(client)
        await story.offer(other, offer(1))
        await story.offer(watched, offer(2))
        frames = [*shown, *await until_present(client, story.store)]
    assert {brief(frame)[1] for frame in frames if frame["type"] != "alive"} == {str(watched.id)}


async def test_frames_are_json_whatever_is_accepted(host: str, raw: str, story: Story) -> None:
    await story.match()
    async with subscribed(host, raw, additional_headers={"Accept": "application/xml"}) as client:
        frame = await client.recv()
    assert isinstance(frame, str)
    assert set(msgspec.json.decode(frame)) == {"type", "data", "meta"}


async def test_a_stream_does_not_count_against_the_rate_limit(
    host: str, issue: IssueKey, story: Story
) -> None:
    raw = await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=2)
    match = await story.match()
    for _ in range(3):
        async with subscribed(host, raw) as client:
            await until_alive(client)
            for number in range(1, 4):
                await story.offer(match, offer(number))
            await until_alive(client)
    async with httpx.AsyncClient(base_url=f"http://{host}", headers={"X-API-Key": raw}) as rest:
        assert [(await rest.get("/v1/alive")).status_code for _ in range(3)] == [200, 200, 429]
