"""A tenant of one run: its account, and its clients of the feed and the stream."""

from dataclasses import dataclass, field

from scripts.histories.account import Account
from scripts.histories.feed_client import FeedClient
from scripts.histories.stream_client import StreamClient


@dataclass
class TenantClients:
    """`uncertain`: matches (as the feed names them) whose booking was changed; `unbooked`: given back."""

    account: Account
    feed: FeedClient
    stream: StreamClient
    uncertain: set[str] = field(default_factory=set)
    unbooked: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Raises the error that ended a client."""
        self.feed.check()
        self.stream.check()

    async def close(self) -> None:
        await self.feed.close()
        await self.stream.close()


def opened(account: Account, base_url: str, ws_url: str, *, durable: bool) -> TenantClients:
    """Both clients, connecting."""
    feed = FeedClient(account, base_url, durable=durable)
    return TenantClients(account, feed, StreamClient(account, ws_url))
