"""The steps in a match's life that the feed tells as `fixture_change`."""

import msgspec

KICK_OFF = 1
CANCELLATION = 3


class FixtureChange(msgspec.Struct, frozen=True):
    """What the change log keeps of such a step: `change_type` is KICK_OFF or CANCELLATION."""

    change_type: int
