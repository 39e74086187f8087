"""Matches to measure with: one that is live, with 30 rounds and 40 markets, and a list of others."""

from decimal import Decimal
from uuid import uuid4

from app.domain.market import Market, MarketStatus
from app.domain.match import (
    CurrentRound,
    MapPlay,
    Match,
    MatchPlayer,
    Round,
    Side,
    Status,
    Team,
    TimelineEvent,
)
from app.store import history, markets, matches
from app.store.connections import open_store

ROUNDS, KILLS, MARKETS = 30, 7, 40
_BEGAN = 1_900_000_000_000
_NAMES = {
    team: [MatchPlayer(number + 10 * place, f"{team}{number}") for number in range(1, 6)]
    for place, team in enumerate(("home", "away"))
}


def timeline(number: int) -> list[TimelineEvent]:
    """The kills of a round; history ids leave room for the round itself."""
    first = (number - 1) * (KILLS + 1) + 1
    return [_kill(first + place, number, place) for place in range(KILLS)]


def _kill(fact: int, number: int, place: int) -> TimelineEvent:
    teams: tuple[Team, Team] = ("home", "away") if place % 2 else ("away", "home")
    sides: tuple[Side, Side] = ("CT", "T") if place % 2 else ("T", "CT")
    return TimelineEvent(
        id=fact,
        type="kill",
        map=1,
        round=number,
        at=_BEGAN + number * 100_000 + place * 7_000,
        offset_ms=place * 7_000,
        actor=_NAMES[teams[0]][place % 5],
        actor_team=teams[0],
        side=sides[0],
        target=_NAMES[teams[1]][(place + number) % 5],
        target_team=teams[1],
        target_side=sides[1],
        weapon="ak47" if place % 2 else "m4a1",
        headshot=place % 3 == 0,
    )


def played(number: int) -> Round:
    won: Team = "home" if number % 2 else "away"
    return Round(
        id=number * (KILLS + 1),
        map=1,
        number=number,
        winner=won,
        winning_side="CT",
        win_reason="kills",
        home_score=(number + 1) // 2,
        away_score=number // 2,
        started_at=_BEGAN + number * 100_000,
        ended_at=_BEGAN + number * 100_000 + 80_000,
        events=tuple(event.id for event in timeline(number)),
    )


def offers() -> list[Market]:
    return [
        Market(
            13 + place % 2,
            f"map=1|round={ROUNDS + 1 + place // 2}|team={'home' if place % 2 else 'away'}",
            MarketStatus.ACTIVE,
            Decimal("1.85"),
            0.51,
            priced_at=_BEGAN,
        )
        for place in range(MARKETS)
    ]


def live(number: int) -> Match:
    rounds = tuple(played(one) for one in range(1, ROUNDS + 1))
    play = MapPlay(
        1, "de_mirage", "live", 15, 15, home_side="CT", rounds=rounds, started_at=_BEGAN, max_rounds=24
    )
    return Match(
        id=uuid4(),
        number=number,
        home="Northwind",
        away="Harbour",
        event="Bench Cup",
        best_of=3,
        status=Status.LIVE,
        scheduled_at=_BEGAN,
        started_at=_BEGAN,
        maps=(play,),
        current=CurrentRound(1, ROUNDS + 1, "live", started_at=_BEGAN + 3_100_000),
    )


async def write(database_url: str, others: int = 60) -> str:
    """Write the live match and `others` upcoming ones; the id of the first."""
    async with await open_store(database_url, 1) as store, store.transaction() as tx:
        match = live(await matches.next_number(tx))
        await matches.insert(tx, match)
        events = [event for number in range(1, ROUNDS + 1) for event in timeline(number)]
        await tx.write(history.add_statements(match.id, match.maps[0].rounds, events))
        await tx.write(markets.save_statements(match.id, offers()))
        for place in range(others):
            number = await matches.next_number(tx)
            begins = _BEGAN + place * 3_600_000
            other = Match(
                uuid4(), number, f"Team {place}", "Other", "Bench Cup", best_of=3, scheduled_at=begins
            )
            await matches.insert(tx, other)
    return str(match.id)
