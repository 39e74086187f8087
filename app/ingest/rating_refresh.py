"""Matches before play follow the ratings of their teams, which other matches change."""

from msgspec.structs import replace

from app.commands import match_update, team_ratings
from app.domain.changes import DetailsChanged
from app.domain.match import Match
from app.ingest.config import IngestConfig
from app.ingest.match_checks import for_each_match
from app.store import ratings
from app.store.connections import Store
from app.store.transaction import Tx

_AT_ONCE = 100  #: matches in one tick; the rest waits for the next


async def refresh(store: Store, now: int, config: IngestConfig) -> int:
    """Rate and price matches before play again whose teams' ratings have changed; how many."""
    async with store.autocommit() as tx:
        ids = await ratings.matches_to_refresh(tx, _AT_ONCE)

    async def follow(tx: Tx, match: Match) -> None:
        after = await team_ratings.with_current_ratings(tx, match, now)
        rated = replace(after, ratings_version=match.ratings_version)
        changes = () if rated == match else (DetailsChanged(),)
        await match_update.react_and_write(
            tx, match, after, changes, now=now, may_price=not after.applied_late, pricing=config.pricing
        )

    return await for_each_match(store, ids, follow)
