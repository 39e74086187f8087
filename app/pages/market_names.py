"""Markets and void reasons in words, in the language of a page."""

from collections.abc import Iterable, Mapping

from app.domain import catalogue
from app.domain.entrants import Player
from app.domain.ids import entrant_number
from app.domain.market import MarketKey, market_name, specifier_values
from app.pages.texts import Texts
from app.store import entrants
from app.store.transaction import Tx

_MOST = 2**31 - 1  #: the highest number of an entrant


class MarketNames:
    """Names markets in one language; `players` are those that the markets are about, by number."""

    def __init__(self, texts: Texts, players: Mapping[int | None, Player]) -> None:
        self._locale = texts.locale
        self._players = players

    def name(self, key: MarketKey, home: str, away: str) -> str:
        """The market in words, with the names of the teams and the player; the bare name of one whose type
        or specifiers the catalogue does not know."""
        type_id, specifiers = key
        found = catalogue.load().by_id.get(type_id)
        values = _values(specifiers)
        if found is None or not found.placeholders <= values.keys():
            return market_name(type_id, specifiers)
        return found.render(self._locale, values | self._in_words(values, home, away))

    def _in_words(self, values: Mapping[str, str], home: str, away: str) -> dict[str, str]:
        words = {"team": {"home": home, "away": away}.get(values.get("team", ""))}
        player = self._players.get(_player(values))
        words["player"] = player.name if player else None
        return {name: word for name, word in words.items() if word and name in values}


async def names_of(tx: Tx, texts: Texts, keys: Iterable[MarketKey]) -> MarketNames:
    """What names these markets; one query if any is about a player."""
    numbers = {player_of(key) for key in keys}
    return MarketNames(texts, await entrants.by_number(tx, entrants.PLAYERS, numbers))


def player_of(key: MarketKey) -> int | None:
    """The number of the player whom a market is about."""
    return _player(_values(key[1]))


def type_names(texts: Texts) -> list[tuple[int, str]]:
    """Every market type with its name, dots for what its specifiers say."""
    locale = texts.locale
    return [
        (each.id, each.render(locale, dict.fromkeys(each.placeholders, "…")))
        for each in catalogue.load().markets
    ]


def void_reason(texts: Texts, reason_id: int | None) -> str:
    """What a void reason means, empty without one."""
    locale = texts.locale
    reasons = catalogue.load().void_reasons
    return next((each.description.get(locale) for each in reasons if each.id == reason_id), "")


def key_of_name(name: str) -> MarketKey | None:
    """The key of a market by its name; None for what is no name."""
    type_id, _, specifiers = name.partition(":")
    if not (type_id.isascii() and type_id.isdecimal() and len(type_id) < 10 and len(specifiers) <= 200):
        return None
    return int(type_id), specifiers


def _values(specifiers: str) -> dict[str, str]:
    """What specifiers say; nothing for those that a client has made up."""
    try:
        return specifier_values(specifiers)
    except ValueError:
        return {}


def _player(values: Mapping[str, str]) -> int | None:
    number = entrant_number(values.get("player", ""), "player")
    return number if number is not None and number <= _MOST else None
