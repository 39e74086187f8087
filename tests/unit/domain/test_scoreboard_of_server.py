"""Kills, deaths and assists of every player are those of the server's own scoreboard after every round."""

import re
from collections.abc import Iterator
from uuid import UUID

from app.domain.analytics import tallies
from app.domain.changes import EventAdded, EventAmended, RoundsVoided
from app.domain.match import Match, TimelineEvent
from app.domain.transitions import fold
from app.ingest import cs2log
from tests.support.real_match import AWAY, HOME

ROW = re.compile(r'"player_\d+" : "([\d ,.]+)')
Count = tuple[int, int, int]


def blocks(log: str) -> Iterator[tuple[str, dict[int, Count]]]:
    """The log in pieces that each end with a `round_stats` block, and that block's counts by account."""
    for piece in re.split(r"(?<=JSON_END)\n", log):
        rows = [found[1].split(",") for found in ROW.finditer(piece)]
        shown = {int(row[0]): (int(row[3]), int(row[4]), int(row[5])) for row in rows}
        yield piece + "\n", {account: count for account, count in shown.items() if account}


def test_what_we_count_is_what_the_server_counts(real_log: str) -> None:
    match = Match(UUID(int=1), 1, HOME, AWAY, "")
    events: dict[int, TimelineEvent] = {}
    compared: set[int] = set()
    for number, (piece, shown) in enumerate(blocks(real_log)):
        match, changes = fold(match, cs2log.read(piece, number * 1_000_000).facts)
        for change in changes:
            if isinstance(change, EventAdded | EventAmended):
                events[change.event.id] = change.event
            elif isinstance(change, RoundsVoided):
                for gone in change.events:
                    del events[gone]
        if match.map is not None and match.map.rounds_won:
            ours = {
                player.account: (tally.kills, tally.deaths, tally.assists)
                for player, _, tally in tallies(0, events.values(), match.other_deaths)
            }
            assert {account: ours.get(account, (0, 0, 0)) for account in shown} == shown, match.map.rounds_won
            compared.add(match.map.rounds_won)
    assert len(compared) >= 14
