"""What a log says of a kill beyond what every client is shown."""

import msgspec

Coordinates = tuple[int, int, int]  #: a place on a map, in the game's units


class KillDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where both stood, further words about it in the log's spelling, and whether the assister had blinded
    the victim."""

    actor_position: Coordinates | None = None
    target_position: Coordinates | None = None
    flags: tuple[str, ...] = ()
    flash_assist: bool = False


NO_DETAILS = KillDetails()
