"""Every set of scopes opens the frames and the fields that the interface specification names, and no others.

Its tables are written out here once more, independently of the code.
"""

import asyncio
from itertools import combinations

import httpx
import pytest

from app.domain import changes as c
from app.domain.map_play import KillDetails
from app.domain.market import MarketStatus
from app.domain.match import CurrentRound, MapPlay, Match, MatchPlayer, Round, TimelineEvent
from tests.support import stored
from tests.support.story import Story, offer
from tests.support.streaming import Message, next_frame, shown_by_rest, subscribed, until_alive
from tests.support.web import IssueKey

FRAMES = {
    "cs2:stream:matches": {
        *("match.created", "match.updated", "match.finished", "round.started", "round.finished"),
        *("event.kill", "event.bomb_planted", "event.bomb_defused", "event.bomb_exploded"),
    },
    "cs2:stream:markets": {
        *("market.created", "market.updated", "market.suspended", "market.unsuspended", "bet_settlement")
    },
    "cs2:stream:scoreboard": {"scoreboard.frame"},
}
FIELDS = (
    "cs2:matches:list",
    "cs2:matches:read",
    "cs2:matches:detail",
    "cs2:markets:read",
    "cs2:matches:scoreboard",
    "cs2:matches:internals",
)
KILL = TimelineEvent(
    *(1, "kill", 1, 1, 5, 5, MatchPlayer(1, "ann"), "home", "CT", MatchPlayer(2, "bob"), "away", "T"),
    details=KillDetails(actor_position=(1, 2, 3), flags=("noscope",)),
)
PLAYED = Round(2, 1, 1, "home", "CT", "kills", 1, 0, 1, 9, events=(1,))
PLAYING = {"maps": (MapPlay(1, "de_inferno", "live", home_side="CT"),), "current": CurrentRound(1, 1, "live")}
BOMB = ("bomb_planted", "bomb_defused", "bomb_exploded")


async def everything_happens(story: Story) -> Match:
    """One of each frame but `match.created`, and then other matches."""
    match = await story.match()
    bombs = [TimelineEvent(3 + number, kind, 1, 1, 6, 6, site="A") for number, kind in enumerate(BOMB)]
    happened = (
        c.RoundLive(map=1, round=1),
        c.EventAdded(event=KILL),
        *(c.EventAdded(event=b) for b in bombs),
    )
    await story.happen(match, *happened, c.RoundFinished(round=PLAYED), **PLAYING)
    await story.offer(match, offer(1))
    await story.offer(match, offer(1, status=MarketStatus.SUSPENDED))
    await story.offer(match, offer(1))
    await story.settle(match, offer(1))
    await story.finish(match)
    await story.announce()
    await story.happen(await story.match(), event="Another Cup")  # no match.finished follows it
    return match


@pytest.mark.parametrize("finished_only", [False, True])
async def test_each_stream_scope_opens_its_frames(
    host: str, issue: IssueKey, story: Story, finished_only: bool
) -> None:
    sets = [chosen for size in range(4) for chosen in combinations(sorted(FRAMES), size)]
    keys = [await issue(scopes=("cs2:matches:read", *one), finished_only=finished_only) for one in sets]

    async def receive(raw: str, ready: asyncio.Event) -> list[Message]:
        async with subscribed(host, raw) as client:
            received = (await until_alive(client))[-1:]
            ready.set()
            while not done.is_set() or received[-1]["meta"]["seq"] < head[0]:
                received += await until_alive(client)
        return received

    done, head = asyncio.Event(), [0]
    ready = [asyncio.Event() for _ in keys]
    listening = [asyncio.create_task(receive(*one)) for one in zip(keys, ready, strict=True)]
    for one in ready:
        await one.wait()
    await everything_happens(story)
    head[0] = await stored.head(story.store)
    done.set()
    for chosen, task in zip(sets, listening, strict=True):
        received = await task
        opened = {kind for scope in chosen for kind in FRAMES[scope]} | {"alive"}
        if finished_only:
            kinds = {frame["type"] for frame in received}
            assert kinds <= opened
            assert ("match.finished" in kinds) is ("cs2:stream:matches" in chosen)
            assert all(
                frame["data"]["status"] == "finished" for frame in received if "match." in frame["type"]
            )
            assert "match.created" not in kinds
        else:
            assert {frame["type"] for frame in received} == opened, chosen


async def test_matches_look_as_rest_shows_them(host: str, issue: IssueKey, story: Story) -> None:
    match = await story.match()
    await story.happen(match, c.EventAdded(event=KILL), c.RoundFinished(round=PLAYED), **PLAYING)
    await story.offer(match, offer(1))
    async with httpx.AsyncClient(base_url=f"http://{host}") as rest:
        for size in range(len(FIELDS) + 1):
            for chosen in combinations(FIELDS, size):
                raw = await issue(scopes=(*chosen, "cs2:stream:matches"))
                answer = await rest.get(f"/cs2/v1/matches/{match.id}", headers={"X-API-Key": raw})
                async with subscribed(host, raw, str(match.id)) as client:
                    shown, _ = await until_alive(client)
                if answer.status_code == 200:
                    assert shown["data"] == answer.json()["data"], chosen
                else:
                    assert not {"cs2:matches:list", "cs2:matches:read"} & set(chosen)
                    assert shown["data"]["id"] == str(match.id)
                    assert "team_a" not in shown["data"] and "maps" not in shown["data"]


async def test_events_look_as_rest_shows_them(host: str, issue: IssueKey, story: Story) -> None:
    match = await story.match()
    granted = ("cs2:matches:read", "cs2:matches:detail", "cs2:stream:matches")
    plain, house = await issue(scopes=granted), await issue(scopes=(*granted, "cs2:matches:internals"))
    async with subscribed(host, plain) as public, subscribed(host, house) as inside:
        await until_alive(public)
        await until_alive(inside)
        await story.happen(match, c.EventAdded(event=KILL), **PLAYING)
        received = [await next_frame(public), await next_frame(inside)]
    for raw, frame in zip((plain, house), received, strict=True):
        (row,) = await shown_by_rest(host, raw, f"/cs2/v1/matches/{match.id}/timeline")
        assert frame["type"] == "event.kill"
        assert frame["data"] == row | {"match_id": str(match.id)}
    told = {"actor_account": 1, "target_account": 2, "actor_position": [1, 2, 3], "flags": ["noscope"]}
    assert [frame["data"].get("meta") for frame in received] == [None, told]


async def test_a_match_that_looks_the_same_is_not_sent_again(
    host: str, issue: IssueKey, story: Story
) -> None:
    """A change that only operators see."""
    plain = await issue(scopes=("cs2:matches:list", "cs2:stream:matches"))
    operator = await issue("house", bundles=("cs2.operator",))
    match = await story.match()
    async with subscribed(host, plain) as public, subscribed(host, operator) as house:
        await until_alive(public)
        await until_alive(house)
        await story.happen(match, suspended="a doubt")
        (frame, *_) = await until_alive(house)
        assert (frame["type"], frame["data"]["suspended"]) == ("match.updated", True)
        (alive,) = await until_alive(public)
        assert alive["meta"]["seq"] >= frame["meta"]["seq"]
        await story.happen(match, event="Another Cup")
        for client in (public, house):
            (frame, *_) = await until_alive(client)
            assert (frame["type"], frame["data"]["event"]) == ("match.updated", "Another Cup")
