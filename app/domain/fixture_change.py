"""The changes of a match that the feed publishes as `fixture_change`."""

import msgspec

KICK_OFF = 1
CANCELLATION = 3


class FixtureChange(msgspec.Struct, frozen=True):
    """The change log's row of such a change: `change_type` is KICK_OFF or CANCELLATION."""

    change_type: int
