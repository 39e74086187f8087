"""Open markets as rows: both sides beside each other, all lines of one proposition on one row."""

import re
from collections import defaultdict
from decimal import Decimal
from uuid import UUID

import pytest

from app.domain.entrants import Player
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, RosterEntry
from app.sites.console import offers
from app.sites.console.match_tables import MARKETS
from app.sites.console.moving_pages import Variant, render
from app.sites.console.offers import OfferRow, offer_rows
from tests.support.simulated import plan_between
from tests.unit.trading.trader import Trader, traded

MATCH = Match(
    UUID(int=1),
    7,
    "Oaken Static",
    "Second Breakfast",
    "Cup",
    roster=(RosterEntry(11, "away"), RosterEntry(12, "home")),
)


def market(
    type_id: int, specifiers: str, group: str, odds: str = "1.9", chance: float = 0.5, **more: object
) -> Market:
    status = more.pop("status", MarketStatus.ACTIVE)
    return Market(type_id, specifiers, status, Decimal(odds), chance, group, **more)  # type: ignore[arg-type]


def pair(
    first: int, second: int, kind: str, line: str, chance: float = 0.5, place: str = "map=1|"
) -> list[Market]:
    """Over and under of a line."""
    group = f"{kind}:{place}threshold={line}"
    both = ((first, chance), (second, 1 - chance))
    return [market(each, f"{place}threshold={line}", group, "1.9", share) for each, share in both]


def winners(type_id: int, kind: str, place: str = "") -> list[Market]:
    group = f"{kind}:{place.rstrip('|')}"
    return [market(type_id, f"{place}team={team}", group) for team in ("away", "home")]


def rows_of(*found: Market, players: dict[int | None, Player] | None = None) -> list[OfferRow]:
    return list(offer_rows(found, MATCH, players or {}).values())


def test_home_stands_before_away_and_over_before_under() -> None:
    [_, match, _, total] = rows_of(
        *winners(1, "match_winner"), *reversed(pair(8, 9, "map_total_rounds", "20.5"))
    )
    assert [each.who for each in match.lines[0].prices] == ["Oaken", "Second"]
    assert [each.side for each in total.lines[0].prices] == ["over", "under"]


def test_all_lines_of_a_total_are_one_row_in_their_order_with_the_nearest_to_evens_marked() -> None:
    lines = {"22.5": 0.3, "9.5": 0.97, "20.5": 0.52, "21.5": 0.45}
    found = [each for line, chance in lines.items() for each in pair(8, 9, "map_total_rounds", line, chance)]
    [heading, row] = rows_of(*found)
    assert (heading.section, heading.lines) == ("map", ())
    assert [each.label for each in row.lines] == ["9.5", "20.5", "21.5", "22.5"]
    assert [each.main for each in row.lines] == [False, True, False, False] and row.wide


def test_a_handicap_is_named_by_that_of_home() -> None:
    group = "match_map_handicap:handicap=-1.5"
    found = [market(2, "team=away|handicap=1.5", group), market(2, "team=home|handicap=-1.5", group)]
    [_, row] = rows_of(*found)
    assert [each.label for each in row.lines] == ["-1.5"]
    assert [each.who for each in row.lines[0].prices] == ["Oaken", "Second"]


def test_sections_are_the_match_then_each_map_with_its_rounds_first_and_its_players_last() -> None:
    player = "map=1|player=mf:player:100000000000011|"
    found = [
        *winners(6, "map_winner", "map=2|"),
        *pair(36, 37, "player_kills", "14.5", place=player),
        *winners(6, "map_winner", "map=1|"),
        *winners(13, "round_winner", "map=1|round=8|"),
        *winners(13, "round_winner", "map=1|round=7|"),
        *winners(1, "match_winner"),
    ]
    headings = [(each.section, each.map, each.round) for each in rows_of(*found) if not each.lines]
    assert headings == [
        ("match", 0, 0),
        ("round", 1, 7),
        ("round", 1, 8),
        ("map", 1, 0),
        ("players", 1, 0),
        ("map", 2, 0),
    ]


def test_players_are_in_the_order_of_their_teams() -> None:
    players: dict[int | None, Player] = {
        11: Player(id=1, account=11, name="ann"),
        12: Player(id=2, account=12, name="zoe"),
    }
    found = [
        each
        for account in (11, 12)
        for each in pair(36, 37, "player_kills", "9.5", place=f"map=1|player=mf:player:{10**14 + account}|")
    ]
    named = [each.about for each in rows_of(*found, players=players) if each.lines]
    assert named == ["zoe", "ann"]


def test_a_player_who_is_not_known_has_the_number() -> None:
    place = "map=1|player=mf:player:100000000000011|"
    [_, row] = rows_of(*pair(36, 37, "player_kills", "9.5", place=place))
    assert row.about == "mf:player:100000000000011"


def test_home_stands_first_whatever_its_lines_are() -> None:
    found = [
        each
        for team, line in (("away", "7.5"), ("home", "11.5"))
        for each in pair(25, 26, "team_rounds", line, place=f"map=1|team={team}|")
    ]
    assert [each.about for each in rows_of(*found) if each.lines] == ["Oaken", "Second"]


def test_an_operators_suspension_is_told_from_the_games() -> None:
    off = {"status": MarketStatus.SUSPENDED}
    found = [
        market(10, "map=1", "map_overtime:map=1", reason="not on offer now", **off),
        market(31, "map=1", "map_overtime:map=1", reason="an injury", **off),
    ]
    [_, row] = rows_of(*found)
    assert [(each.on_offer, each.ours) for each in row.lines[0].prices] == [(False, False), (False, True)]
    assert row.lines[0].margin is None


def test_the_margin_is_that_of_the_group_or_of_the_one_market() -> None:
    [_, pair_row] = rows_of(*winners(1, "match_winner"))
    assert round(pair_row.lines[0].margin or 0, 4) == round(2 / 1.9 - 1, 4)
    [_, single] = rows_of(market(10, "map=1", "", "8", 0.1))
    assert round(single.lines[0].margin or 0, 4) == 0.25


@pytest.fixture(scope="module")
def played() -> Trader:
    """A match with every market that the engine made on its way."""
    trader, _ = traded(plan_between(1, 8, 1, best_of=3, brief=True), checking=False, seconds=5)
    return trader


def test_every_market_of_the_engine_is_shown_once_beside_its_group(played: Trader) -> None:
    lines = [
        line for row in offer_rows(played.book.values(), played.match, {}).values() for line in row.lines
    ]
    shown = [price.key for line in lines for price in line.prices]
    assert len(shown) == len(played.book) and set(shown) == set(played.book)
    groups = defaultdict(set)
    for each in played.book.values():
        groups[each.group].add(each.key)
    assert {frozenset(keys) for keys in groups.values()} == {
        frozenset(price.key for price in line.prices) for line in lines
    }


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_side_of_every_type_is_in_words(played: Trader, language: str) -> None:
    """By a short text or by the catalogue's name, which types without a text have too."""
    for row in offer_rows(played.book.values(), played.match, {}).values():
        cells = render(Variant(language, acts=False), MARKETS, row).cells
        sides = re.findall(r'(?:<i>|class="hidden">)([^<]*)<', "".join(cells))
        assert all(side.strip() and "{" not in side for side in sides), cells
        assert len(sides) == sum(len(line.prices) for line in row.lines)


def test_a_type_without_a_text_has_the_catalogues_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(offers._SIDES, 17)
    [_, row] = rows_of(market(17, "map=1|round=2", "some_plant:map=1|round=2"))
    label, line = render(Variant("en", acts=False), MARKETS, row).cells
    assert label.strip() == "some plant" and "<i>bomb to be planted</i>" in line


def test_teams_whose_names_begin_alike_are_named_whole() -> None:
    alike = Match(UUID(int=1), 7, "Team Oak", "Team Elm", "Cup")
    [_, row] = offer_rows(winners(1, "match_winner"), alike, {}).values()
    assert [each.who for each in row.lines[0].prices] == ["Team Oak", "Team Elm"]
