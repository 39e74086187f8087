"""Teams, sides and players, as every fact about a match names them."""

from typing import Literal

import msgspec

Team = Literal["home", "away"]  #: home is the interface's team_a
Side = Literal["CT", "T"]


def other_side(side: Side) -> Side:
    return "T" if side == "CT" else "CT"


def other_team(team: Team) -> Team:
    return "away" if team == "home" else "home"


class PlayerKills(msgspec.Struct, frozen=True, array_like=True):
    """The history ids of a player's kills in one round, as on the server's scoreboard: kills of team mates
    do not count, those after the round's decision do. Empty for a player who only died."""

    account: int
    ids: tuple[int, ...]


class MatchPlayer(msgspec.Struct, frozen=True):
    """A player of a match, as the log names them; `entrants.Player` is the person in reference
    data. `account` is the 32-bit Steam account number, 0 for a bot."""

    account: int
    name: str

    @property
    def key(self) -> int | str:
        """What identifies the player within the match: the account, or the name of a bot."""
        return self.account or self.name
