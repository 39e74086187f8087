"""A match has one log source until an operator or its silence changes it."""

from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.ingest import match_checks, source_selection
from app.ingest.log_update import apply_batch
from app.store import history
from app.store.alerts import AlertKind
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, Addressed, Server
from tests.support import logs, stored


@pytest.fixture
async def first(server: Server) -> Addressed:
    """The first server, which has played to 3:0."""
    first = Addressed(server, "run-1", "203.0.113.5:27015")
    await first.send(*logs.kick_off())
    for won in range(1, 4):
        await first.round(won, 0)
    return first


@pytest.fixture
def rival(first: Addressed) -> Addressed:
    rival = Addressed(first, "run-2", "203.0.113.9:27015")
    rival.now = first.now
    return rival


async def open_rivals(store: Store) -> list[str]:
    found = await stored.open_alerts(store, AlertKind.RIVAL_SOURCE)
    return [alert.subject for alert in found]


async def follow(client: httpx.AsyncClient, server: Server, source: str) -> int:
    """Command that this source is followed; the status of the response."""
    command = {"command": "follow_source", "source": source}
    return (await client.post(f"/ops/v1/matches/{server.match.id}/commands", json=command)).status_code


async def sources(client: httpx.AsyncClient, server: Server) -> dict[str, Any]:
    """The sources that operators see, by name."""
    found = (await client.get(f"/ops/v1/matches/{server.match.id}/sources")).json()["data"]
    return {each["source"]: each for each in found}


async def taken_back(store: Store, server: Server) -> int:
    """Rounds that were counted and are void now."""
    async with store.autocommit() as tx:
        return sum(played.void for played in await history.rounds(tx, server.match.id))


async def test_a_rival_rolls_nothing_back_and_is_an_alert(
    store: Store, first: Addressed, rival: Addressed
) -> None:
    assert await rival.deliver(rival.cut(*logs.kick_off()), rival.cut(*logs.live())) == ["refused", "refused"]
    assert (await first.score(), await taken_back(store, first)) == ((3, 0), 0)
    assert "second game server" in (await first.state()).suspended
    assert await open_rivals(store) == ["run-2"]
    first.now = rival.now
    await first.round(4, 0)
    assert await first.score() == (4, 0)
    assert "second game server" in (await first.state()).suspended


async def test_lines_without_play_claim_nothing(store: Store, first: Addressed, rival: Addressed) -> None:
    assert await rival.deliver(rival.cut('server_cvar: "mp_maxrounds" "30"')) == ["refused"]
    state = await first.state()
    assert (state.suspended, state.max_rounds) == ("", 24)
    assert await open_rivals(store) == []


async def test_a_rival_that_falls_silent_suspends_no_longer(
    store: Store, first: Addressed, rival: Addressed
) -> None:
    await rival.deliver(rival.cut(*logs.kick_off()))
    limit = rival.now + CONFIG.takeover_millis
    first.now = limit - 1000
    await first.send(*logs.live())
    assert await match_checks.forget_rivals(store, limit, CONFIG) == 0
    assert await match_checks.forget_rivals(store, limit + 1, CONFIG) == 1
    assert ((await first.state()).suspended, await open_rivals(store)) == ("", [])
    rival.now = limit + 1000
    first.now = rival.now
    await first.send(logs.kill(logs.CT[0], logs.T[0]))
    await rival.deliver(rival.cut(*logs.live()))
    assert await open_rivals(store) == ["run-2"]


async def test_the_same_server_that_comes_back_is_followed_at_once(store: Store, first: Addressed) -> None:
    back = Addressed(first, "run-3", first.address)
    await back.send(f'Loading map "{logs.MAP}"', f'World triggered "Match_Start" on "{logs.MAP}"')
    assert (await back.deliver(first.cut(*logs.live()))) == ["refused"]
    await back.send(*logs.freeze(3, 0))
    await back.round(4, 0)
    assert (await back.score(), (await back.state()).suspended) == ((4, 0), "")
    assert (await taken_back(store, first), await open_rivals(store)) == (0, [])


async def test_after_long_silence_another_server_takes_over_and_rolls_nothing_back(
    store: Store, first: Addressed, rival: Addressed
) -> None:
    rival.now = first.now + CONFIG.takeover_millis
    await rival.send(f'World triggered "Match_Start" on "{logs.MAP}"', *logs.live())
    assert await first.score() == (3, 0)
    assert (await first.state()).suspended
    await rival.win(4, 0)
    await rival.round(5, 0)
    assert (await first.score(), (await first.state()).suspended) == ((5, 0), "")
    assert await taken_back(store, first) == 0
    assert await first.deliver(replace(first.cut(*logs.live()), arrived_at=rival.now)) == ["refused"]


async def test_an_operator_sees_the_sources_and_chooses_one(
    store: Store, first: Addressed, rival: Addressed, client: httpx.AsyncClient
) -> None:
    await rival.deliver(rival.cut(*logs.kick_off()))
    seen = await sources(client, first)
    assert {name: each["state"] for name, each in seen.items()} == {"run-1": "followed", "run-2": "refused"}
    assert seen["run-2"]["why"] == "run-1 (203.0.113.5:27015) is followed"
    assert (seen["run-2"]["claims"], seen["run-2"]["map"]) == (True, logs.MAP)
    assert seen["run-1"]["offset"] == first.offset
    assert "Starting Freeze period" in seen["run-2"]["last_line"]
    assert await follow(client, first, "run-9") == 422
    assert await follow(client, first, "run-2") == 200
    assert await open_rivals(store) == []
    await rival.send(*logs.live())
    assert await first.score() == (3, 0), "its own score is awaited"
    await rival.send(*logs.freeze(3, 0))
    await rival.round(4, 0)
    assert (await first.score(), (await first.state()).suspended) == ((4, 0), "")
    assert await taken_back(store, first) == 0
    assert await first.deliver(first.cut(*logs.live())) == ["refused"]
    assert (await sources(client, first))["run-1"]["state"] == "dismissed"
    assert ((await first.state()).suspended, await open_rivals(store)) == ("", [])


async def test_lines_about_play_that_cannot_be_parsed_are_counted_once_with_their_source(
    first: Addressed, client: httpx.AsyncClient
) -> None:
    unread = 'World triggered "Round_Suspended" by 203.0.113.77'
    batch, early = first.cut(unread, *logs.live()), first.cut(logs.kill(logs.CT[0], logs.T[0])[:-9])
    assert await first.deliver(early, batch, batch, early) == ["early", "applied", "repeat", "repeat"]
    seen = (await sources(client, first))["run-1"]
    assert (seen["unread_lines"], "killed" in seen["unread_line"]) == (2, True)
    await first.send(unread)
    seen = (await sources(client, first))["run-1"]
    assert (seen["unread_lines"], "203.0.113.77" in seen["unread_line"]) == (3, False)


async def test_an_operator_decides_against_a_rival(
    store: Store, first: Addressed, rival: Addressed, client: httpx.AsyncClient
) -> None:
    await rival.deliver(rival.cut(*logs.kick_off()))
    assert await follow(client, first, "run-1") == 200
    assert ((await first.state()).suspended, await open_rivals(store)) == ("", [])
    assert await rival.deliver(rival.cut(*logs.live())) == ["refused"]
    assert ((await first.state()).suspended, await open_rivals(store)) == ("", [])


async def test_senders_that_change_their_name_fill_no_table(
    first: Addressed, client: httpx.AsyncClient
) -> None:
    for number in range(2 * source_selection.MAX_SENDERS):
        stranger = Addressed(first, f"run-{number + 10}", f"203.0.113.9:{number}")
        assert await stranger.deliver(stranger.cut(*logs.live())) == ["refused"]
    assert len(await sources(client, first)) == source_selection.MAX_SENDERS + 1


async def test_a_sender_beyond_the_most_takes_over_alone(first: Addressed, client: httpx.AsyncClient) -> None:
    strangers = [
        Addressed(first, f"run-{number + 10}", f"203.0.113.9:{number}")
        for number in range(source_selection.MAX_SENDERS + 5)
    ]
    for stranger in strangers:
        assert await stranger.deliver(stranger.cut('server_cvar: "mp_maxrounds" "30"')) == ["refused"]
    *_, other, heir = strangers
    heir.now = other.now = first.now + CONFIG.takeover_millis
    await heir.send(f'World triggered "Match_Start" on "{logs.MAP}"', *logs.live())
    assert await other.deliver(other.cut(*logs.live())) == ["refused"]
    await heir.send(logs.kill(logs.CT[0], logs.T[0]))
    found = await sources(client, first)
    assert [name for name, each in found.items() if each["state"] == "followed"] == [heir.instance]
    assert len(found) == source_selection.MAX_SENDERS + 1


async def test_an_operators_choice_dismisses_the_server_that_had_fallen_silent(
    first: Addressed, rival: Addressed, client: httpx.AsyncClient
) -> None:
    first.now = rival.now = first.now + CONFIG.takeover_millis
    await rival.send(*logs.live())
    assert await follow(client, first, "run-2") == 200
    first.now = rival.now + CONFIG.takeover_millis
    assert await first.deliver(first.cut(*logs.live())) == ["refused"]


async def test_senders_without_headers_are_distinguished_by_address(store: Store, server: Server) -> None:
    first = replace(server.cut(*logs.kick_off()), instance="", begin=None, end=None, peer="198.51.100.1")
    again = replace(server.cut(*logs.live()), instance="", begin=None, end=None, peer="198.51.100.2")
    outcomes = [await apply_batch(store, batch, batch.arrived_at, CONFIG) for batch in (first, again)]
    assert outcomes == ["applied", "refused"]
    assert await open_rivals(store) == ["198.51.100.2"]


async def test_an_operator_names_the_sides_of_a_log_without_team_names(
    server: Server, client: httpx.AsyncClient
) -> None:
    def nameless(lines: tuple[str, ...]) -> list[str]:
        return [line for line in lines if "Team playing" not in line]

    async def play(won: int) -> None:
        for lines in (logs.live(), logs.ct_win(won, 0), logs.freeze(won, 0)):
            await server.send(*nameless(lines))

    await server.send(*nameless(logs.kick_off()))
    await play(1)
    await play(2)
    (source,) = (await sources(client, server)).values()
    assert source["why"].startswith("2 rounds in a row could not be counted: which team plays which side")
    (alert,) = (await client.get("/ops/v1/alerts?open=true&kind=unfollowed_source")).json()["data"]
    assert alert["match_id"] == str(server.match.id)
    path, command = f"/ops/v1/matches/{server.match.id}/commands", {"command": "name_sides", "ct": "team_a"}
    answer = await client.post(path, json=command)
    assert answer.status_code == 200, answer.text
    await server.send(*nameless(logs.freeze(2, 0)))
    for won in range(3, 7):
        await play(won)
    assert (await server.score(), (await server.state()).suspended) == ((6, 0), "")
    assert (await client.get("/ops/v1/alerts?open=true&kind=unfollowed_source")).json()["data"] == []
