"""Market types with a player are in the group that makes clients look up the player's name, and all are in
the one that a `bet_stop` names."""

from lxml import etree

from app.domain.catalogue import load
from app.wire.xml.dictionaries import PLAYER_PROPS, market_descriptions


def test_market_types_with_a_player_and_no_others_are_player_props() -> None:
    document = etree.fromstring(market_descriptions(load().markets, "en"))
    named = {int(market.get("id", "0")): market.get("groups") for market in document.iter("market")}
    players = {market.id for market in load().markets if "player" in market.placeholders}
    assert players == {36, 37, 38, 39}
    assert {number for number, groups in named.items() if groups == PLAYER_PROPS} == players
    assert {groups for number, groups in named.items() if number not in players} == {"all"}
