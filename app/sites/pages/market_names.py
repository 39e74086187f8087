"""Markets and void reasons in words, in the language of a page."""

from collections.abc import Iterable, Mapping

from app.domain import catalogue
from app.domain.entrants import Player, account_of
from app.domain.ids import entrant_number
from app.domain.market import MarketKey, specifier_values
from app.sites.pages.texts import Texts
from app.store import entrants
from app.store.transaction import Tx

Players = Mapping[int | None, Player]

_PLAYERS = ("player", "opponent")  #: specifiers that name a player


class MarketNames:
    """Names markets in one language; `players` are those that the markets are about, by account."""

    def __init__(self, texts: Texts, players: Players) -> None:
        self._locale = texts.locale
        self._players = players

    def name(self, key: MarketKey, home: str, away: str) -> str:
        """The market in words, with the names of the teams and the player; the bare name of one whose type
        or specifiers the catalogue does not know."""
        return catalogue.name_of(key, self._locale, self._in_words(_values(key[1]), home, away))

    def _in_words(self, values: Mapping[str, str], home: str, away: str) -> dict[str, str]:
        words = {"team": {"home": home, "away": away}.get(values.get("team", ""))}
        for name in _PLAYERS:
            player = self._players.get(_player(values, name))
            words[name] = player.name if player else None
        return {name: word for name, word in words.items() if word}


async def names_of(tx: Tx, texts: Texts, keys: Iterable[MarketKey]) -> MarketNames:
    """What names these markets; one query if any is about a player."""
    return MarketNames(texts, await players_of(tx, keys))


async def players_of(tx: Tx, keys: Iterable[MarketKey]) -> Players:
    """The players whom these markets are about, as far as they are known; one query if there are any."""
    specifiers = [_values(key[1]) for key in keys]
    named = [_player(values, name) for values in specifiers for name in _PLAYERS if name in values]
    accounts = {account for account in named if account is not None}
    found = await entrants.of_accounts(tx, accounts) if accounts else []
    return {one.account: one for one in found}


def account_of_player(key: MarketKey) -> int | None:
    """The account of the player whom a market is about."""
    return _player(_values(key[1]), "player")


def account_of_opponent(key: MarketKey) -> int | None:
    """The account of the player with whom that one is compared."""
    return _player(_values(key[1]), "opponent")


def void_reason(texts: Texts, reason_id: int | None) -> str:
    """What a void reason means, empty without one."""
    locale = texts.locale
    reasons = catalogue.load().void_reasons
    return next((each.description.get(locale) for each in reasons if each.id == reason_id), "")


def _values(specifiers: str) -> dict[str, str]:
    """What specifiers say; nothing for those that a client has made up."""
    try:
        return specifier_values(specifiers)
    except ValueError:
        return {}


def _player(values: Mapping[str, str], name: str) -> int | None:
    return account_of(entrant_number(values.get(name, ""), "player") or 0)
