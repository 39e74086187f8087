"""A real server's log must yield the match that was really played."""

import random
from uuid import UUID

import msgspec
import pytest

from app.domain import changes as c
from app.domain.match import Match, Status, TimelineEvent
from app.domain.transitions import fold
from app.ingest.cs2log import read
from tests.support.real_match import AWAY, HOME
from tests.support.truth import Truth, derive

ARRIVED = 1_768_850_000_000
Played = tuple[Match, tuple[c.MatchChange, ...]]


def new_match() -> Match:
    return Match(id=UUID(int=1), number=1, home=HOME, away=AWAY.upper(), event="test")


@pytest.fixture(scope="module")
def played(real_log: str) -> Played:
    return fold(new_match(), read(real_log, ARRIVED).facts)


@pytest.fixture(scope="module")
def truth(real_log: str) -> Truth:
    return derive(real_log)


def test_the_truth_is_what_people_saw(truth: Truth) -> None:
    assert (len(truth.rounds), truth.score()) == (15, (13, 2))


def test_the_match_ends_as_it_did(played: Played) -> None:
    match, changes = played
    assert (match.status, match.winner, match.score_home, match.score_away) == (Status.FINISHED, "home", 1, 0)
    assert (match.maps[0].name, match.maps[0].home_score, match.maps[0].away_score) == ("de_inferno", 13, 2)
    kinds = [type(change) for change in changes]
    assert [kinds.count(kind) for kind in (c.MatchStarted, c.MapFinished, c.MatchFinished)] == [1, 1, 1]
    assert not match.doubts


def test_every_round(played: Played, truth: Truth) -> None:
    rounds = [change.round for change in played[1] if isinstance(change, c.RoundFinished)]
    assert [(one.number, one.winner, one.winning_side, one.win_reason, one.bomb_site) for one in rounds] == [
        (number, one.winner, one.side, one.reason, one.site)
        for number, one in enumerate(truth.rounds, start=1)
    ]
    for one, true in zip(rounds, truth.rounds, strict=True):
        home_and_away = one.home_score, one.away_score
        assert true.score == (home_and_away if one.home_side == "CT" else home_and_away[::-1])


def test_every_kill(played: Played, truth: Truth) -> None:
    events = [change.event for change in played[1] if isinstance(change, c.EventAdded)]
    found = [told_kill(event) for event in events if event.type == "kill"]
    true = [
        (
            number,
            kill.killer,
            kill.victim,
            kill.weapon,
            (kill.headshot, "penetrated" in kill.words, kill in one.after),
            (kill.side, truth.team(kill.killer)),
            (kill.victim_side, truth.team(kill.victim)),
            kill.assister,
            (kill.place, kill.victim_place),
            {*kill.words, *(["flash"] if kill.flash else [])},
        )
        for number, one in enumerate(truth.rounds, start=1)
        for kill in one.all_kills
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


def test_first_kills_that_count(played: Played, truth: Truth) -> None:
    timelines = [change.timeline for change in played[1] if isinstance(change, c.RoundFinished)]
    first = [next(event for event in timeline if event.counts_for_markets) for timeline in timelines]
    assert [(event.actor.name if event.actor else "", event.weapon) for event in first] == [
        (one.fair[0].killer, one.fair[0].weapon) for one in truth.rounds
    ]


def test_nothing_is_told_twice_and_numbers_rise(played: Played) -> None:
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
