"""Markets in words: names of teams and players, and whatever a client may have made up."""

import pytest

from app.domain import catalogue
from app.domain.entrants import Player
from app.sites.pages.market_names import MarketNames
from app.sites.pages.texts import LANGUAGES
from app.sites.portal.settlements import type_names
from app.sites.portal.site import PORTAL, market_path

ANN = Player(id=3, name="Ann", account=7)
(KILLS,) = [each.id for each in catalogue.load().markets if each.key == "player_kills_over"]


@pytest.fixture
def names() -> MarketNames:
    return MarketNames(PORTAL.texts.texts_in("en"), {7: ANN})


def test_teams_and_players_are_named(names: MarketNames) -> None:
    assert names.name((1, "team=home"), "Northwind", "Harbour") == "Northwind to win the match"
    shown = names.name((KILLS, f"map=1|player=mf:player:{ANN.number}|threshold=15.5"), "a", "b")
    assert shown == "Map 1: Ann to get over 15.5 kills"


@pytest.mark.parametrize(
    ("type_id", "specifiers"), [(1, ""), (1, "nonsense"), (1, "map=1||"), (99_999, "team=home")]
)
def test_what_the_catalogue_does_not_know_keeps_its_bare_name(
    names: MarketNames, type_id: int, specifiers: str
) -> None:
    assert names.name((type_id, specifiers), "a", "b") == f"{type_id}:{specifiers}"


def test_an_unknown_player_keeps_its_urn(names: MarketNames) -> None:
    for urn in ("mf:player:8", "mf:player:999999999999999999", "x"):
        assert urn in names.name((KILLS, f"map=1|player={urn}|threshold=15.5"), "a", "b")


def test_every_type_has_a_name_without_places() -> None:
    for language in LANGUAGES:
        assert not any("{" in name for _, name in type_names(PORTAL.texts.texts_in(language)))


def test_a_path_is_safe_in_an_address() -> None:
    path = market_path(4, (13, "map=1|x=a/b?c#d"))
    assert path == "/portal/matches/od:match:4/markets/13:map=1%7Cx=a%2Fb%3Fc%23d"
