"""What is true of a map that the rules have decided: the deciding round settles nothing alone, play that goes
on settles nothing more, and the map's end confirms or corrects."""

import pytest

from app.domain import facts as f
from app.domain.awards import award_map
from app.domain.market import MarketStatus, Result
from app.domain.match import Slot
from app.domain.score_rules import is_decided
from tests.unit.domain.play import Server, new_match
from tests.unit.trading.test_engine import Floor

SHORT = 4
ODD, EVEN = (27, "map=1"), (28, "map=1")


def short_map(*winners: Slot) -> Floor:
    """A map of four rounds and overtime, as far as these rounds go; three wins decide it."""
    floor = Floor(new_match(3))
    floor.start_map()
    floor.tell(f.FormatSet(at=floor.later(), max_rounds=SHORT))
    for number, winner in enumerate(winners, start=1):
        floor.round(winner)
        if number == SHORT // 2:
            floor.swap()
        floor.freeze()
    return floor


def results(floor: Floor) -> dict[tuple[int, str], Result | None]:
    """Of every market but races, which go by rounds alone."""
    return {key: market.result for key, market in floor.trader.book.items() if key[0] != 11}


def test_the_deciding_round_settles_no_final_score() -> None:
    floor = short_map("home", "home", "home")
    assert floor.trader.of(*ODD).result is None
    assert floor.trader.of(6, "map=1|team=home").result is None
    assert floor.trader.of(13, "map=1|round=3|team=home").result is Result.WON
    assert not floor.trader.active()


def test_play_that_goes_on_settles_nothing_more_and_offers_nothing() -> None:
    floor = short_map("home", "home", "home")
    before = results(floor)
    for winner in ("home", "away", "away"):
        floor.rounds(winner)
        now = results(floor)
        assert {key: now[key] for key in before} == before
        assert not floor.trader.active()


def test_the_end_told_counts_whatever_was_played_on() -> None:
    floor = short_map("home", "home", "home", "home", "away", "home")
    floor.game_over()
    assert floor.match.maps[0].rounds_won == 6
    assert (floor.trader.of(*ODD).result, floor.trader.of(*EVEN).result) == (Result.LOST, Result.WON)
    assert floor.trader.of(6, "map=1|team=home").result is Result.WON


def test_a_longer_format_opens_a_decided_map_again() -> None:
    floor = short_map("home", "home", "home")
    floor.tell(f.FormatSet(at=floor.later(), max_rounds=24))
    assert floor.trader.of(6, "map=1|team=home").status is MarketStatus.ACTIVE


def test_a_restored_round_opens_a_decided_map_again() -> None:
    floor = short_map("home", "home", "home")
    floor.score = {"home": 2, "away": 0}
    floor.freeze()
    assert floor.trader.of(6, "map=1|team=home").status is MarketStatus.ACTIVE


def test_an_award_confirms_the_deciding_round_and_no_other() -> None:
    floor = short_map("home", "home", "home", "home")
    floor.match, changes = award_map(floor.match, "home", floor.later())
    floor.trader.match = floor.match
    floor.trader.react(changes)
    assert floor.trader.of(*ODD).result is Result.WON


def test_another_map_loaded_does_not_say_who_won_a_map_played_on_to_a_draw() -> None:
    server = Server(new_match(3))
    server.start_map()
    server.tell(f.FormatSet(at=server.later(), max_rounds=SHORT))
    server.rounds("home", "home")
    server.swap()
    server.freeze()
    server.rounds("home", "away", "away", "away")
    server.tell(f.MapLoaded(at=server.later(), name="de_nuke"))
    assert "loaded before" in server.match.suspended
    assert server.match.maps[0].winner is None


@pytest.mark.parametrize(
    ("score", "overtime", "decided"),
    [
        ((12, 11), 6, False),
        ((13, 11), 6, True),
        ((12, 12), 6, False),
        ((12, 12), 0, True),
        ((13, 12), 6, False),
        ((15, 14), 6, False),
        ((16, 14), 6, True),
        ((16, 15), 6, False),
        ((18, 15), 6, False),
        ((19, 15), 6, True),
        # These cannot come before the map is decided.
        ((14, 3), 6, True),
        ((17, 14), 6, True),
        ((13, 12), 0, True),
    ],
)
def test_scores_that_end_a_map(score: tuple[int, int], overtime: int, decided: bool) -> None:
    for home, away in (score, score[::-1]):
        assert is_decided(home, away, 24, overtime) is decided


@pytest.fixture
def unseen_pistol() -> Floor:
    """A map whose first round is in the score, though nobody saw it."""
    floor = Floor()
    floor.start_map()
    floor.score["home"] = 1
    floor.freeze()
    return floor


def test_a_pistol_that_nobody_saw_is_open_again_when_play_begins_anew(unseen_pistol: Floor) -> None:
    pistol = (12, "map=1|team=home|half=1")
    assert unseen_pistol.trader.of(*pistol).result is Result.VOID
    unseen_pistol.start_play()
    assert unseen_pistol.trader.of(*pistol).status is MarketStatus.ACTIVE


@pytest.mark.parametrize(("winner", "result"), [("away", Result.LOST), ("home", Result.VOID)])
def test_both_pistols_are_lost_with_the_second_whatever_the_first_was(
    unseen_pistol: Floor, winner: Slot, result: Result
) -> None:
    """Only when the second is won, too, would the first be needed."""
    unseen_pistol.rounds(*("home", "away") * 5, "away")
    assert unseen_pistol.trader.of(24, "map=1|team=home").open
    unseen_pistol.swap()
    unseen_pistol.freeze()
    unseen_pistol.round(winner)
    assert unseen_pistol.trader.of(24, "map=1|team=home").result is result
