"""Logs as real servers write them end with the right rounds, or suspended with an alert and its reason."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from app.ingest import lost_lines
from app.ingest.batches import Batch
from app.store import history
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, Addressed, Server
from tests.support import logs, stored

RESTORE = 'rcon from "203.0.113.1:4000": command "mp_backup_restore_load_file backup_round{:02d}.txt"'
SIDES = {"CT": "TERRORIST", "TERRORIST": "CT"}
START = f'World triggered "Match_Start" on "{logs.MAP}"'


class GameServer(Addressed):
    """A game server to whose lines `edit` is applied before they are sent."""

    def __init__(self, like: Server, instance: str, address: str = "203.0.113.5:27015") -> None:
        super().__init__(like, instance, address)
        self.edit: Callable[[str], str] = str

    def cut(self, *lines: str) -> Batch:
        return super().cut(*filter(None, map(self.edit, lines)))

    async def rounds(self, *scores: tuple[int, int]) -> None:
        """Each is named by the score after it."""
        for score in scores:
            await self.round(*score)

    async def plays(self, until: int) -> None:
        await self.send(*logs.kick_off())
        await self.rounds(*((won, 0) for won in range(1, until + 1)))


@dataclass
class End:
    """The state of a match: its score, the numbers of the rounds that were seen and count, how many are void,
    why it is suspended, which alerts are open."""

    score: tuple[int, int]
    seen: Iterable[int]
    void: int = 0
    suspended: str = ""
    alerts: tuple[str, ...] = ()


Story = Callable[[GameServer], Awaitable[End]]


async def attached_in_warm_up(server: GameServer) -> End:
    await server.send('World triggered "Warmup_Start"', *logs.score(0, 0, -1), *logs.live())
    await server.send(logs.kill(logs.CT[0], logs.T[0]), *logs.score(0, 0, -1))
    await server.send('World triggered "Warmup_End"')
    await server.plays(3)
    return End((3, 0), (1, 2, 3))


async def attached_in_a_knife_round(server: GameServer) -> End:
    await server.send(*(logs.kill(logs.CT[0], victim, "knife_t") for victim in logs.T))
    await server.send('Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "1") (T "0")', *logs.score(1, 0, 1))
    await server.send('World triggered "Restart_Round_(1_second)"')
    await server.plays(3)
    return End((3, 0), (1, 2, 3))


async def attached_in_the_middle_of_a_map(server: GameServer) -> End:
    await server.send(logs.kill(logs.CT[0], logs.T[0]))
    await server.send(*logs.freeze(4, 2))
    await server.rounds((5, 2), (6, 2))
    return End((6, 2), (7, 8))


async def first_line_round_start(server: GameServer) -> End:
    await server.send(*logs.live())
    await server.send(START, *logs.score(0, 0, 0), "Starting Freeze period")
    await server.rounds((1, 0), (2, 0), (3, 0))
    return End((3, 0), (1, 2, 3))


async def a_restart(server: GameServer) -> End:
    await server.plays(2)
    await server.send('World triggered "Restart_Round_(3_seconds)"')
    await server.send(START, *logs.score(0, 0, 0), "Starting Freeze period")
    await server.rounds((1, 0), (2, 0), (3, 0))
    return End((3, 0), (1, 2, 3), void=2)


async def two_servers(server: GameServer) -> End:
    await server.plays(3)
    rival = GameServer(server, "rival", "203.0.113.9:27015")
    assert await rival.deliver(rival.cut(*logs.kick_off())) == ["refused"]
    server.now = rival.now
    await server.rounds((4, 0))
    return End((4, 0), (1, 2, 3, 4), suspended="a second game server", alerts=("rival_source",))


async def a_backup_restored_twice(server: GameServer) -> End:
    await server.plays(4)
    for _ in range(2):
        await server.send(RESTORE.format(2), *logs.score(2, 0, 2), "Starting Freeze period")
        await server.rounds((3, 0))
    return End((3, 0), (1, 2, 3), void=3)


async def a_server_that_dies_and_comes_back(server: GameServer) -> End:
    await server.plays(3)
    await server.send(*logs.live())
    again = GameServer(server, "second-run")
    await again.send(f'Loading map "{logs.MAP}"', START)
    await again.send(RESTORE.format(3), *logs.freeze(3, 0))
    await again.rounds((4, 0), (5, 0))
    return End((5, 0), (1, 2, 3, 4, 5))


async def names_that_change(server: GameServer) -> End:
    await server.plays(2)
    server.edit = lambda line: line.replace(logs.HOME, f"{logs.HOME} Esports").replace('"ct1<', '"renamed<')
    await server.rounds((3, 0), (4, 0))
    return End((4, 0), (1, 2, 3, 4))


async def no_team_names(server: GameServer) -> End:
    server.edit = lambda line: "" if "Team playing" in line else line
    await server.plays(3)
    why = "which team plays which side is not known yet"
    return End((0, 0), (), suspended=why, alerts=("unfollowed_source", "score_contradiction"))


async def a_player_disconnects(server: GameServer) -> End:
    await server.plays(2)
    await server.send(*logs.live(), f'{logs.CT[1]} disconnected (reason "NETWORK_DISCONNECT_TIMEDOUT")')
    await server.send(*logs.ct_win(3, 0), *logs.freeze(3, 0))
    await server.send(f"{logs.CT[1].replace('<2>', '<12>')} entered the game")
    await server.rounds((4, 0))
    return End((4, 0), (1, 2, 3, 4))


async def bytes_that_never_came(server: GameServer) -> End:
    await server.plays(2)
    server.cut(*logs.live(), *logs.ct_win(3, 0))
    late = server.cut(*logs.freeze(3, 0))
    assert await server.deliver(late) == ["early"]
    await lost_lines.skip_missing(server.store, late.arrived_at + CONFIG.gap_millis + 1, CONFIG)
    await server.rounds((4, 0))
    return End((4, 0), (1, 2, 4))


async def teams_named_the_other_way_round(server: GameServer) -> End:
    """Their players stay on their sides: an admin has mixed up the names, or mends it."""
    await server.plays(2)

    def other_way_round(line: str) -> str:
        return line.replace(logs.HOME, "?").replace(logs.AWAY, logs.HOME).replace("?", logs.AWAY)

    server.edit = other_way_round
    await server.rounds((3, 0))
    return End(
        (3, 0), (1, 2, 3), suspended="disagrees", alerts=("format_contradiction", "score_contradiction")
    )


async def another_map_before_the_first_is_decided(server: GameServer) -> End:
    await server.plays(2)
    server.edit = lambda line: line.replace(logs.MAP, "de_mirage")
    await server.plays(1)
    why = f"de_mirage loaded before {logs.MAP} was decided"
    return End((2, 0), (1, 2), suspended=why, alerts=("map_contradiction",))


async def another_log_of_the_same_run(server: GameServer) -> End:
    """Its sender counts the bytes of each log file from 0, and names none of them."""
    await server.plays(2)
    server.offset = 0
    await server.rounds((3, 0), (4, 0))
    return End((4, 0), (1, 2, 3, 4))


def without_a_kill() -> Iterator[tuple[str, ...]]:
    """Three rounds, the second of which lacks the line of a kill."""
    missing = logs.kill(logs.CT[0], logs.T[1])
    yield *logs.kick_off(), *logs.statistics(0)
    for won in (1, 2, 3):
        yield logs.live()
        yield tuple([line for line in logs.ct_win(won, 0) if won != 2 or line != missing])
        yield *logs.freeze(won, 0), *logs.statistics(won)


async def a_kill_that_is_missing(server: GameServer) -> End:
    for lines in without_a_kill():
        await server.send(*lines)
    return End((3, 0), (1, 2, 3), alerts=("statistics_contradiction",))


async def a_kill_that_is_missing_in_a_body_of_several_rounds(server: GameServer) -> End:
    """As after an outage: a round ends and is contradicted in one transaction."""
    await server.send(*(line for lines in without_a_kill() for line in lines))
    return End((3, 0), (1, 2, 3), alerts=("statistics_contradiction",))


async def a_backup_of_round_0_from_before_the_sides_were_swapped(server: GameServer) -> End:
    """Who won the knife round has swapped sides, and the backup has everybody where they were before."""
    await server.send(*logs.kick_off(), *logs.live(), logs.kill(logs.CT[0], logs.T[0]))
    moves = [(who, "CT", "TERRORIST") for who in logs.CT] + [(who, "TERRORIST", "CT") for who in logs.T]
    switched = [
        f"{who.replace(f'<{old}>', '')} switched from team <{old}> to <{new}>" for who, old, new in moves
    ]

    def other_sides(line: str) -> str:
        line = re.sub(
            r'[<"](CT|TERRORIST)[>"]', lambda found: f"{found[0][0]}{SIDES[found[1]]}{found[0][-1]}", line
        )
        return re.sub(
            r"(\d+):(\d+) on map", r"\2:\1 on map", line.replace("CTs_Win", "Terrorists_Win")
        ).replace('(CT "1") (T "0")', '(CT "0") (T "1")')

    await server.send(RESTORE.format(0), *switched)
    server.edit = other_sides
    await server.send(*logs.freeze(0, 0))
    await server.rounds((1, 0))
    return End((1, 0), (1,))


async def a_surrender_of_the_side_that_won(server: GameServer) -> End:
    """The line contradicts itself: no team is given the map."""
    await server.plays(3)
    await server.send(*logs.live(), 'Team "CT" triggered "SFUI_Notice_CTs_Surrender" (CT "3") (T "0")')
    await server.send(f"Game Over: competitive {logs.MAP} score 3:0 after 9 min")
    return End(
        (3, 0), (1, 2, 3), suspended="was not understood", alerts=("map_contradiction", "line_not_understood")
    )


async def no_log_any_more(server: GameServer) -> End:
    """A plugin sends what happens in a form of its own."""
    await server.plays(2)
    begin, body = server.offset, b'{"event": "round_start"}\n'
    server.offset += len(body)
    batch = replace(server.cut("?"), id="json", body=body, begin=begin, end=server.offset)
    assert await server.deliver(batch) == ["applied"]
    return End((2, 0), (1, 2), suspended="was not understood", alerts=("line_not_understood",))


STORIES: tuple[Story, ...] = (
    attached_in_warm_up,
    attached_in_a_knife_round,
    attached_in_the_middle_of_a_map,
    first_line_round_start,
    a_restart,
    two_servers,
    a_backup_restored_twice,
    a_server_that_dies_and_comes_back,
    names_that_change,
    no_team_names,
    a_player_disconnects,
    bytes_that_never_came,
    teams_named_the_other_way_round,
    another_map_before_the_first_is_decided,
    another_log_of_the_same_run,
    a_kill_that_is_missing,
    a_kill_that_is_missing_in_a_body_of_several_rounds,
    a_backup_of_round_0_from_before_the_sides_were_swapped,
    a_surrender_of_the_side_that_won,
    no_log_any_more,
)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
async def test_a_log_ends_with_the_right_rounds_or_an_alert(
    store: Store, server: Server, story: Story
) -> None:
    end = await story(GameServer(server, "run"))
    state = await server.state()
    async with store.autocommit() as tx:
        rounds = await history.rounds(tx, state.id)
    assert await server.score() == end.score
    assert [played.number for played in rounds if not played.void] == list(end.seen)
    assert sum(played.void for played in rounds) == end.void
    assert end.suspended in state.suspended and bool(end.suspended) == bool(state.suspended)
    opened = await stored.open_alerts(store, match=state)
    assert tuple(alert.kind.value for alert in opened) == end.alerts
