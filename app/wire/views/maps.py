"""The maps of the game as JSON."""

import msgspec


class PoolView(msgspec.Struct, frozen=True):
    """The maps that are played at present, by their codes."""

    game: str
    maps: tuple[str, ...]
    count: int


def pool_view(game: str, codes: tuple[str, ...]) -> PoolView:
    return PoolView(game, codes, len(codes))
