"""A real server's log must yield the match that was really played."""

import random
from uuid import UUID

import msgspec
import pytest

from app.domain import changes as c
from app.domain.match import Match, Status, TimelineEvent
from app.domain.transitions import fold
from app.ingest.cs2log import read
from tests.unit.ingest.cs2log.truth import TrueRound, played_rounds

ARRIVED = 1_768_850_000_000
HOME, AWAY = "rvls test team 1", "rvls test 2"


def new_match() -> Match:
    return Match(id=UUID(int=1), number=1, home=HOME, away=AWAY.upper(), event="test")


@pytest.fixture(scope="module")
def played(real_log: str) -> tuple[Match, tuple[c.MatchChange, ...]]:
    return fold(new_match(), read(real_log, ARRIVED).facts)


@pytest.fixture(scope="module")
def truth(real_log: str) -> list[TrueRound]:
    return played_rounds(real_log)


def home_or_away(team: str) -> str:
    return {HOME: "home", AWAY: "away"}[team]


def test_the_truth_is_what_people_saw(truth: list[TrueRound]) -> None:
    winners = [home_or_away(one.winner) for one in truth]
    assert (len(truth), winners.count("home"), winners.count("away")) == (15, 13, 2)


def test_the_match_ends_as_it_did(played: tuple[Match, tuple[c.MatchChange, ...]]) -> None:
    match, changes = played
    assert (match.status, match.winner, match.score_home, match.score_away) == (Status.FINISHED, "home", 1, 0)
    assert (match.maps[0].name, match.maps[0].home_score, match.maps[0].away_score) == ("de_inferno", 13, 2)
    kinds = [type(change) for change in changes]
    assert [kinds.count(kind) for kind in (c.MatchStarted, c.MapFinished, c.MatchFinished)] == [1, 1, 1]
    assert not match.doubts


def test_every_round(played: tuple[Match, tuple[c.MatchChange, ...]], truth: list[TrueRound]) -> None:
    rounds = [change.round for change in played[1] if isinstance(change, c.RoundFinished)]
    assert [(one.number, one.winner, one.winning_side, one.win_reason, one.bomb_site) for one in rounds] == [
        (number, home_or_away(one.winner), one.side, one.reason, one.site)
        for number, one in enumerate(truth, start=1)
    ]
    for one, true in zip(rounds, truth, strict=True):
        by_side = (
            (one.home_score, one.away_score) if one.home_side == "CT" else (one.away_score, one.home_score)
        )
        assert by_side == true.score


def test_every_kill(played: tuple[Match, tuple[c.MatchChange, ...]], truth: list[TrueRound]) -> None:
    events = [change.event for change in played[1] if isinstance(change, c.EventAdded)]
    found = [told_kill(event) for event in events if event.type == "kill"]
    true = [
        (
            number,
            kill.killer,
            kill.victim,
            kill.weapon,
            (kill.headshot, kill.penetrated, kill.late),
            (kill.side, home_or_away(one.teams[kill.side])),
            (kill.victim_side, home_or_away(one.teams[kill.victim_side])),
            kill.assister,
            kill.places,
            {*kill.words, *(["flash"] if kill.flash else [])},
        )
        for number, one in enumerate(truth, start=1)
        for kill in one.kills
    ]
    assert found == true


def told_kill(event: TimelineEvent) -> tuple[object, ...]:
    assert event.actor and event.target and event.details
    at, there = event.details.actor_position, event.details.target_position
    assert at and there
    own = {"headshot": event.headshot, "penetrated": event.penetrated, "flash": event.details.flash_assist}
    return (
        event.round,
        event.actor.name,
        event.target.name,
        event.weapon,
        (event.headshot, event.penetrated, event.late),
        (event.side, event.actor_team),
        (event.target_side, event.target_team),
        event.assister.name if event.assister else "",
        (" ".join(map(str, at)), " ".join(map(str, there))),
        {*event.details.flags, *(word for word, said in own.items() if said)},
    )


def test_first_kills_that_count(
    played: tuple[Match, tuple[c.MatchChange, ...]], truth: list[TrueRound]
) -> None:
    timelines = [change.timeline for change in played[1] if isinstance(change, c.RoundFinished)]
    first = [next(event for event in timeline if event.counts_for_markets) for timeline in timelines]
    assert [(event.actor.name if event.actor else "", event.weapon) for event in first] == [
        (one.counting_kills[0].killer, one.counting_kills[0].weapon) for one in truth
    ]


def test_nothing_is_told_twice_and_numbers_rise(played: tuple[Match, tuple[c.MatchChange, ...]]) -> None:
    ids = [change.event.id for change in played[1] if isinstance(change, c.EventAdded)]
    ids += [change.round.id for change in played[1] if isinstance(change, c.RoundFinished)]
    assert len(ids) == len(set(ids))
    assert max(ids) < played[0].next_history_id


def test_any_split_at_line_ends_gives_the_same_match(real_log: str) -> None:
    lines = real_log.splitlines(keepends=True)
    whole, _ = fold(new_match(), read(real_log, ARRIVED).facts)
    for seed in range(4):
        match = new_match()
        for body in split(lines, random.Random(seed)):
            match, _ = fold(match, read(body, ARRIVED).facts)
        assert without_times(match) == without_times(whole)


def split(lines: list[str], chance: random.Random) -> list[str]:
    bodies, start = [], 0
    while start < len(lines):
        end = start + chance.choice((1, 3, 20, 100))
        bodies.append("".join(lines[start:end]))
        start = end
    return bodies


def without_times(value: object) -> object:
    times = {"at", "started_at", "ended_at", "finished_at", "opened_at", "offset_ms"}
    times |= {"froze_at", "live_at"}
    built = msgspec.to_builtins(value)

    def strip(node: object) -> object:
        if isinstance(node, dict):
            return {key: strip(inner) for key, inner in node.items() if key not in times}
        return [strip(inner) for inner in node] if isinstance(node, list | tuple) else node

    return strip(built)


def test_nearly_every_line_is_known(real_log: str) -> None:
    reading = read(real_log, ARRIVED)
    assert reading.known + reading.unknown == len(real_log.splitlines())
    assert reading.unknown == 0
