"""The dependencies of the console's handlers."""

from uuid import UUID

import msgspec

from app.broker.management import Management
from app.kit.clock import Clock
from app.sites.console.match_feeds import MatchFeeds
from app.sites.console.row_feed import RowFeed
from app.sites.pages.open_streams import OpenStreams
from app.sites.pages.people import People
from app.sites.pages.people import SignedInRequest as SignedInRequest
from app.store.connections import Store
from app.store.counters import Counters
from app.trading.pricing import PricingConfig


class ConsoleDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of the handlers. `secret` keys the hashes of session tokens; `url` is the console's
    address, as browsers reach it; `live` is the feed of the live page, `matches` has those of matches;
    `consent_seconds` is for `commands.consent`."""

    store: Store
    counters: Counters
    management: Management
    clock: Clock
    secret: str
    url: str
    pricing: PricingConfig
    live: RowFeed
    matches: MatchFeeds
    streams: OpenStreams
    consent_seconds: int = 0

    async def show_changes(self, match_id: UUID | None) -> None:
        """Have the moving pages show what was just changed, of a match if it was about one, at their next
        look: pages without scripts look once."""
        await self.live.expire()
        if match_id is not None:
            await self.matches.of(match_id).expire()

    @property
    def people(self) -> People:
        """Who signs in to the console: operators."""
        return People(
            store=self.store,
            counters=self.counters,
            clock=self.clock,
            secret=self.secret,
            secure=self.url.startswith("https://"),
            operators=True,
        )
