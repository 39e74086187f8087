"""What players did in earlier matches is read when a map begins or a player joins, and follows changes."""

import pytest
from msgspec.structs import replace

from app.commands import creation, match_update
from app.commands.creation import NewMatch
from app.domain.analytics import PlayerOnMap, PlayerTally
from app.domain.changes import DetailsChanged
from app.domain.match import MapPlay, Match, MatchPlayer, PlayerForm, RosterEntry, Status
from app.ingest.log_update import IngestConfig
from app.store import matches, statistics
from app.store.connections import Store
from app.trading.coefficients import load

NOW = 1_800_000_000_000
PRICING = IngestConfig().pricing
FOX, OWL = 101, 202


async def new_match(store: Store, **fields: object) -> Match:
    new = NewMatch(home="Northwind", away="Harbour", event="Cup", best_of=3, allow_unrated=True)
    return await creation.create_match(store, replace(new, **fields), NOW, PRICING)


async def count(store: Store, match: Match, at: int, *kills: int) -> None:
    """Store the fox's kills on maps of 20 rounds of a finished match, as its end or a correction does."""
    played = [
        PlayerOnMap(
            number, "de_nuke", MatchPlayer(FOX, "fox"), "Northwind", None, PlayerTally(1, 20, kills=one)
        )
        for number, one in enumerate(kills, start=1)
    ]
    async with store.transaction() as tx:
        await statistics.replace(tx, match.id, at, (), played)


async def forms(store: Store, match: Match, maps: int, *accounts: int) -> dict[int, PlayerForm]:
    """Those that the match has after a transaction with so many maps and these players."""
    async with store.transaction() as tx:
        before = await matches.lock(tx, match.id)
        after = replace(
            before,
            status=Status.LIVE,
            maps=tuple(MapPlay(number, "de_nuke") for number in range(1, maps + 1)),
            roster=tuple(RosterEntry(account, "home") for account in accounts),
        )
        await match_update.react_and_write(
            tx, before, after, (DetailsChanged(),), now=NOW, may_price=True, pricing=PRICING
        )
    async with store.transaction() as tx:
        return {one.account: one for one in (await matches.lock(tx, match.id)).player_forms}


async def test_newer_matches_count_more_and_maps_of_one_match_alike(store: Store) -> None:
    old, new, match = await new_match(store), await new_match(store), await new_match(store)
    await count(store, old, NOW - 2000, 10)
    await count(store, new, NOW - 1000, 20, 30)
    found = await forms(store, match, 1, FOX, OWL)
    decay = load().players.decay
    assert found[FOX].kills == pytest.approx(decay * 50 + decay**2 * 10, abs=0.001)
    assert found[FOX].rounds == pytest.approx(decay * 40 + decay**2 * 20, abs=0.001)
    assert found[OWL] == PlayerForm(OWL)


async def test_a_correction_counts_from_the_next_map_on(store: Store) -> None:
    earlier, match = await new_match(store), await new_match(store)
    await count(store, earlier, NOW - 1000, 20)
    first = await forms(store, match, 1, FOX)
    await count(store, earlier, NOW - 1000)
    assert await forms(store, match, 1, FOX) == first, "nothing is read within a map"
    assert await forms(store, match, 2, FOX) == {FOX: PlayerForm(FOX)}


async def test_a_player_who_joins_is_read_and_the_match_itself_does_not_count(store: Store) -> None:
    earlier, match = await new_match(store), await new_match(store)
    await count(store, earlier, NOW - 2000, 20)
    await count(store, match, NOW - 1000, 40)
    assert await forms(store, match, 1, OWL) == {OWL: PlayerForm(OWL)}
    decay = load().players.decay
    assert (await forms(store, match, 1, OWL, FOX))[FOX].kills == pytest.approx(decay * 20, abs=0.001)
