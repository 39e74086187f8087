"""What unmodified SDKs of this layout need otherwise than the specification says: all of it, in one table.

The public address has the column `SPECIFICATION`. The SDK address (`SDK_PORT`) has the column `SDK`: what
unmodified SDKs of the established feed need. Handlers, data, keys and rates are the same.

| difference | specification | SDK | because SDKs |
|---|---|---|---|
| `accepted_status` | 202 | 200 | take any other status for a failure, and repeat the request |
| `sport_id` | `3` | `od:sport:2` | parse a URN, and look up the sport that routing keys name |
| `repeats_ids` | no | yes | compare the id of a document with the one that they requested |
| `queues_recoveries` | no | yes | wait for hours after a refused recovery |
| `generates_request_ids` | no | yes | may draw 0 as request id, which counts as absent |
| `edge_millis` | 1 s | 60 s | request exactly the window's edge, by their own clock |
| `max_queued` | 64 | 4,096 | request both recoveries of every match at once |
"""

import re

import msgspec

from app.domain.ids import CATEGORY, SPORT
from app.domain.recovery import MAX_QUEUED

_URN = re.compile(r"[a-z]+:[a-zA-Z_2]+:[1-9][0-9]{0,17}\Z")


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One column of the table."""

    accepted_status: int  #: of the response to an accepted recovery
    sport_id: str  #: the id of the sport, wherever a document names it
    repeats_ids: bool  #: whether the resource that a path names has the id that is in the path
    #: Whether a full recovery waits for the one of its node that runs, instead of being refused; identical
    #: requests are one recovery until that has ended.
    queues_recoveries: bool
    generates_request_ids: bool  #: whether a full recovery needs no request id, and 0 counts as none
    edge_millis: int  #: by how much `after` may be older than the window
    max_queued: int  #: recoveries of one tenant that may wait or run at a time

    def id_of(self, requested: str, own: str) -> str:
        """The id of a resource that was requested as `requested`, and that we call `own`. A URN may be
        repeated; a bare number is none."""
        return requested if self.repeats_ids and _URN.match(requested) else own


SPECIFICATION = Dialect(
    accepted_status=202,
    sport_id=CATEGORY,
    repeats_ids=False,
    queues_recoveries=False,
    generates_request_ids=False,
    edge_millis=1_000,
    max_queued=MAX_QUEUED,
)
SDK = Dialect(
    accepted_status=200,
    sport_id=f"od:sport:{SPORT}",
    repeats_ids=True,
    queues_recoveries=True,
    generates_request_ids=True,
    edge_millis=60_000,
    max_queued=4_096,
)
