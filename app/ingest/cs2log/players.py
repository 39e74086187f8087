"""Players in log lines: ``name<slot><id><side>``; a line about a change of sides has no side there.

A name may contain anything but a line break: what follows it shows where it ends.
"""

import re
from functools import lru_cache

from app.domain.match import MatchPlayer, Side

_AFTER_NAME = r"<-?\d+><[\w\[\]:. ]*>"
_NAME = r"[^<]*(?:<.*?)??"  # in most names there is no "<"
WRITTEN = rf'"({_NAME}{_AFTER_NAME}<\w*>)"'  #: one group: the token without its quotes
WITHOUT_SIDE = rf'"({_NAME}{_AFTER_NAME}(?:<\w*>)?)"'  #: the same, in a line about a change of sides
END = re.compile(rf'{_AFTER_NAME}(?:<\w*>)?"', re.ASCII)  #: the end of a token

_PARTS = re.compile(r"(.*)<-?\d+><([^<>]*)>(?:<([^<>]*)>)?\Z", re.ASCII | re.DOTALL)
_ACCOUNT = re.compile(r"\[U:1:\s*(\d{1,10})\]\Z", re.ASCII)
_LEGACY = re.compile(r"STEAM_[01]:([01]):(\d{1,10})\Z", re.ASCII)
_SIDES: dict[str, Side] = {"CT": "CT", "TERRORIST": "T"}


@lru_cache(maxsize=4096)
def parse_player(token: str) -> tuple[MatchPlayer, Side | None] | None:
    """The player and the side (None for spectators); None when `token` has another form."""
    found = _PARTS.match(token)
    if found is None:
        return None
    return MatchPlayer(account(found[2]), found[1]), _SIDES.get(found[3] or "")


def account(steam_id: str) -> int:
    """The 32-bit account number of a Steam id; 0 for bots and for players not yet validated."""
    if found := _ACCOUNT.match(steam_id):
        return int(found[1])
    if found := _LEGACY.match(steam_id):
        return int(found[2]) * 2 + int(found[1])
    return 0


def is_pending(token: str) -> bool:
    """Whether it is of a person whom the server does not know yet, or any more, by an account."""
    found = _PARTS.match(token)
    return found is not None and not account(found[2]) and found[2] != "BOT"


def side_named(name: str) -> Side | None:
    return _SIDES.get(name)
