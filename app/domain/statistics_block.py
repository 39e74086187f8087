"""What the match keeps of the game server's statistics blocks. The functions that update it are in
`round_totals`."""

import msgspec


class PlayerTotals(msgspec.Struct, frozen=True, array_like=True):
    """The kills of enemies and the deaths of a player, by Steam account."""

    account: int
    kills: int
    deaths: int


class RoundTally(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the log's events say of the round that was finished last, by its history id. `left` are the
    accounts of those who left the server in it: the server may count that as a death, or not."""

    round: int
    players: tuple[PlayerTotals, ...]
    left: tuple[int, ...] = ()


class StatisticsBlock(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last complete block: the players' `totals` on the map with this number (0: no map was in play)
    after the round with the history id `after` (0: none). `tally` is that of the round since then.
    `reading`: the rows of a block that is not complete yet."""

    map: int = 0
    after: int = 0
    totals: tuple[PlayerTotals, ...] | None = None
    tally: RoundTally | None = None
    reading: tuple[PlayerTotals, ...] | None = None
