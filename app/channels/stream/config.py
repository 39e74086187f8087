"""The stream's intervals and limits."""

import msgspec


class StreamConfig(msgspec.Struct, frozen=True, kw_only=True):
    """See the settings of the same names. `connections` is the limit of a tenant in this process, `backlog`
    the number of frames that may be queued for a connection, `origins` the web pages that may connect
    ("*": any)."""

    poll_all_millis: int = 5000
    poll_match_millis: int = 2000
    alive_seconds: float = 10.0
    connections: int = 2000
    backlog: int = 1000
    origins: frozenset[str] = frozenset()
