"""What everything under /ops/v1 works with."""

import msgspec

from app.domain.match import Match
from app.ingest import tokens
from app.ingest.queues import Queues
from app.ingest.terms import Terms
from app.kit.clock import Clock
from app.store.connections import Store


class Intake(msgspec.Struct, frozen=True):
    """What the routes work with. `secret` signs log tokens, `public_url` begins the addresses we give out,
    in a `sandbox` finished matches may be trimmed."""

    store: Store
    queues: Queues
    terms: Terms
    clock: Clock
    secret: str
    public_url: str
    sandbox: bool = False

    def sink_url(self, match: Match) -> str:
        return tokens.address(self.secret, self.public_url, match)
