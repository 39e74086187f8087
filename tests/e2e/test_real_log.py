"""A real server's log, played into the sink as the server would send it, through queue, worker and store.

Everything that we then say about the match agrees with what the log says, read independently (`truth`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from app.domain.market import MarketStatus, specifier_values
from app.ingest import worker
from app.ingest.terms import Terms
from app.settings import Settings
from app.store import history, markets, matches
from app.store.connections import Store
from tests.e2e import truth
from tests.support.eventually import eventually
from tests.support.logs import cut
from tests.support.queues import private_vhost, queues_of
from tests.support.web import issuing, serving

LINES_A_BODY = 25


@asynccontextmanager
async def working(settings: Settings, store: Store) -> AsyncIterator[None]:
    """An ingest worker in this process, ended in good order."""
    stopping = asyncio.Event()
    running = asyncio.create_task(worker.run(store, queues_of(settings), Terms(), stopping))
    try:
        yield
    finally:
        stopping.set()
        await running


async def create(client: httpx.AsyncClient, headers: dict[str, str]) -> dict[str, Any]:
    body = {"team_a": truth.HOME, "team_b": truth.AWAY, "event": "Test Cup"}
    answer = await client.post("/ops/v1/matches", headers=headers, json=body)
    made: dict[str, Any] = answer.json()["data"]
    return made


async def play(client: httpx.AsyncClient, url: str, log: str) -> None:
    """Send the log in bodies with offsets, each again until it is taken."""
    offset = 0
    for body in cut(log.encode(), LINES_A_BODY):
        headers = {
            "X-Server-Instance-Token": "run",
            "X-Logbytes-Beginoffset": str(offset),
            "X-Logbytes-Endoffset": str(offset + len(body)),
        }

        async def post(body: bytes = body, headers: dict[str, str] = headers) -> int:
            return (await client.post(url, content=body, headers=headers)).status_code

        await eventually(post, lambda status: status == 200)
        offset += len(body)


@pytest.fixture
async def played(settings: Settings, store: Store, real_log: str) -> AsyncIterator[tuple[Any, Any]]:
    """A client's `get` and the match, once it is finished."""
    headers = {"X-API-Key": await issuing(store, settings.secret_key)(bundles=("cs2.operator",))}
    async with private_vhost(settings) as private, serving(private) as client, working(private, store):
        made = await create(client, headers)
        await play(client, made["log_sink_url"], real_log)

        async def get(path: str = "") -> Any:
            return (await client.get(f"/cs2/v1/matches/{made['id']}{path}", headers=headers)).json()["data"]

        match = await eventually(get, lambda seen: seen["status"] == "finished")
        yield get, match


async def test_everything_told_about_the_real_match_is_true(
    played: tuple[Any, Any], store: Store, real_log: str
) -> None:
    get, match = played
    true = truth.derive(real_log)
    check_score(match, true)
    check_rounds(match, true)
    check_kills(match, true)
    async with store.reading() as tx:
        found = await matches.find(tx, match["id"])
        assert found is not None
        book = await markets.book(tx, found.id)
        ledger = await history.ledger(tx, found.id)
    check_settlements(book, ledger, true)
    listed = await get("/settlements?limit=1000")
    assert [entry["id"] for entry in listed] == [entry.id for entry in ledger]


def check_score(match: Any, true: truth.Truth) -> None:
    assert true.score() == (13, 2) and sorted(true.told) == [2, 13]
    assert (match["score_a"], match["score_b"], match["winner"]) == (1, 0, "team_a")
    (play,) = match["maps"]
    assert (play["name"], play["score_a"], play["score_b"]) == ("de_inferno", 13, 2)


def check_rounds(match: Any, true: truth.Truth) -> None:
    assert len(match["rounds"]) == len(true.rounds) == 15
    for number, (said, fact) in enumerate(zip(match["rounds"], true.rounds, strict=True), start=1):
        assert said["round"] == number
        assert said["winner"] == {"home": "team_a", "away": "team_b"}[fact.winner]
        assert said["winning_side"] == fact.side[: len(said["winning_side"])]
        assert said["win_reason"] == fact.reason
        assert (said["score_a"], said["score_b"]) == true.score(number)
        assert bool(said.get("bomb_site")) == fact.planted


def check_kills(match: Any, true: truth.Truth) -> None:
    said = [
        (
            *(e["round"], e["actor"], e["target"], e["side"], e["victim_side"]),
            *(e["weapon"], e["headshot"], e.get("late", False)),
        )
        for e in match["events"]
        if e["type"] == "kill"
    ]
    short = {"CT": "CT", "TERRORIST": "T"}
    facts = [
        (number, k.killer, k.victim, short[k.side], short[k.victim_side], k.weapon, k.headshot, late)
        for number, played in enumerate(true.rounds, start=1)
        for late, kills in ((False, played.kills), (True, played.after))
        for k in kills
    ]
    assert said == facts
    for event in match["events"]:
        if event["type"] == "kill":
            slot = {"home": "team_a", "away": "team_b"}[true.team(event["actor"])]
            assert event["actor_team"] == slot


def check_settlements(book: Any, ledger: Any, true: truth.Truth) -> None:
    """Every market is closed, every result is the truth, and the ledger's last word is the market's."""
    assert len(book) > 200 and {13, 14, 6, 8, 9} <= {type_id for type_id, _ in book}
    last = {entry.key: entry for entry in ledger}
    assert set(last) == set(book)
    for (type_id, specifiers), market in book.items():
        says = specifier_values(specifiers)
        expected = "won" if truth.came_true(true, type_id, says) else "lost"
        assert market.status is MarketStatus.SETTLED, (type_id, specifiers, market.status)
        assert (type_id, specifiers, market.result) == (type_id, specifiers, expected)
        assert last[market.key].outcome == expected
        assert last[market.key].rests_on
