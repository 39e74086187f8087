"""Whatever is in the database: every answer of every path is valid, in both languages, at both addresses; and
those of the SDK address differ from the others by what its dialect says."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.entrants import Competitor, Player, Tournament
from app.domain.match import MapPlay, Status
from app.domain.match_info import MatchInfo, VideoStream
from app.store import matches
from app.store.connections import Store
from tests.support.facade import LOCALES, PATHS, SDK, World, create_world, document, same_in_the_dialect

#: What the database holds: any text but NUL and half characters.
_LETTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
HOSTILE = (
    "",
    " ",
    "<&\"'>",
    "]]><!--",
    "\x01\x1f\x7f\x85",
    "a\tb\nc\r",
    "\ufffe\uffff",
    "&amp;&#9;",
    "🏆",
    "{home}",
)
text = st.sampled_from(HOSTILE) | st.text(_LETTERS, max_size=20)
addresses = text | st.sampled_from(
    [
        "https://img.example/1.png",
        "http://",
        "https://a b",
        "javascript:alert(1)",
        "https://x\x01",
        "http://\x01",
    ]
)
big = st.integers(-(2**63), 2**63 - 1)
moments = st.none() | st.integers(0, 4_000_000_000_000) | big
numbers = st.integers(1, 2**31 - 1)

players = st.builds(
    Player, id=numbers, name=text, full_name=text, country_code=text, icon_url=addresses, account=numbers
)
competitors = st.builds(
    Competitor,
    id=numbers,
    name=text,
    abbreviation=text,
    country=text,
    country_code=text,
    icon_url=addresses,
    players=st.lists(players, max_size=2).map(tuple),
)
tournaments = st.builds(
    Tournament,
    id=numbers,
    name=text,
    abbreviation=text,
    risk_tier=big,
    starts_at=moments,
    ends_at=moments,
    icon_url=addresses,
    team_ids=st.lists(numbers, max_size=3).map(tuple),
)
maps = st.builds(
    MapPlay,
    number=st.integers(1, 5),
    name=text,
    status=st.sampled_from(["upcoming", "live", "finished"]),
    home_score=st.integers(0, 99),
    away_score=st.integers(0, 99),
    winner=st.sampled_from([None, "home", "away"]),
    home_side=st.sampled_from([None, "CT", "T"]),
)
streams = st.builds(VideoStream, url=addresses, language=text, name=text)
fields = st.fixed_dictionaries(
    {
        "home": text,
        "away": text,
        "event": text,
        "best_of": st.integers(1, 5),
        "scheduled_at": moments,
        "started_at": moments,
        "maps": st.lists(maps, max_size=3).map(tuple),
        "winner": st.sampled_from([None, "home", "away"]),
        "info": st.builds(MatchInfo, streams=st.lists(streams, max_size=3).map(tuple)),
    }
)


async def check(client: httpx.AsyncClient, key: dict[str, str], world: World) -> None:
    for template, (root, _) in PATHS.items():
        statuses = Status if "{event}" in template else (Status.LIVE,)
        for status in statuses:
            for locale in LOCALES:
                path = world.path(template, locale, status)
                answer = await client.get(path, headers=key)
                document(answer, root)
                in_dialect = await client.get(SDK + path, headers=key)
                document(in_dialect, root)
                same_in_the_dialect(answer, in_dialect)


async def clear(store: Store) -> None:
    async with store.transaction() as tx:
        await matches.trim(tx, 2**62, 1_000)
        for table in ("match", "tournament", "team", "player"):
            await tx.execute(f"DELETE FROM {table}")


worlds = st.fixed_dictionaries(
    {
        "tournament": tournaments,
        "home": competitors,
        "away": competitors,
        "player": players,
        "linked": st.booleans(),
        "fields": fields,
    }
)


@pytest.mark.timeout(600)
@given(stored=worlds)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
async def test_hostile_data(
    client: httpx.AsyncClient, key: dict[str, str], store: Store, stored: dict[str, Any]
) -> None:
    await clear(store)
    await check(client, key, await create_world(store, **stored))


@pytest.mark.long
@pytest.mark.timeout(600)
@given(stored=worlds)
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
async def test_much_hostile_data(
    client: httpx.AsyncClient, key: dict[str, str], store: Store, stored: dict[str, Any]
) -> None:
    await clear(store)
    await check(client, key, await create_world(store, **stored))


async def test_full_data(client: httpx.AsyncClient, key: dict[str, str], store: Store) -> None:
    await check(client, key, await create_world(store))


async def test_sparse_data(client: httpx.AsyncClient, key: dict[str, str], store: Store) -> None:
    """Names and nothing else; and matches of which nothing is known to reference data."""
    bare: dict[str, Any] = {
        "scheduled_at": None,
        "started_at": None,
        "maps": (),
        "info": MatchInfo(),
        "winner": None,
    }
    world = await create_world(
        store,
        tournament=Tournament(1, "T"),
        home=Competitor(1, "A"),
        away=Competitor(2, "B"),
        player=Player(1, "P"),
        linked=False,
        fields=bare,
    )
    await check(client, key, world)
