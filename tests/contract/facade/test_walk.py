"""A client starts against a service on which simulated matches are played: every id that it sees resolves."""

import httpx
import pytest
from lxml import etree

from app.domain.ids import match_urn
from app.domain.market import specifier_values
from app.domain.match import Match, Status
from app.kit.clock import system_clock
from app.recovery.plan import RecoveryPlan
from app.sandbox.simulator.fictional_world import FictionalTeam, fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan
from app.store import matches, recovery_jobs
from app.store.connections import Store
from tests.contract.facade.walker import Walker
from tests.support import season
from tests.support.facade import LOCALES, document
from tests.support.matches import create_match
from tests.support.story import Story
from tests.support.tenants import give_vhost

PAGE = 3
HOUR = 3_600_000
_LINES = 200


def teams(pair: int) -> tuple[FictionalTeam, FictionalTeam]:
    home, away = fictional_world().teams[2 * pair : 2 * pair + 2]
    return home, away


async def create(store: Store, pair: int, event: str, scheduled_at: int | None) -> Match:
    home, away = teams(pair)
    fields = {"home": home.name, "away": away.name, "event": event, "scheduled_at": scheduled_at}
    return await create_match(store, system_clock(), **fields)


async def play(store: Store, pair: int, share: float) -> Match:
    """A match of which this share is played, as if its log had been sent since some time ago."""
    plan = MatchPlan(*teams(pair), seed=pair, begin=system_clock() - HOUR, brief=True)
    return (await season.play(store, plan, "Spring Cup", lines=_LINES, share=share)).match


@pytest.fixture
async def played(store: Store) -> dict[Status, list[Match]]:
    """Matches in every state, those that were played from a simulated log; one of them nobody can link."""
    now = system_clock()
    finished, live = await play(store, 0, 1), await play(store, 1, 0.5)
    story = Story(store)
    await story.cancel(await create(store, 2, "Spring Cup", now))
    upcoming = [await create(store, pair, f"Cup {pair}", now + pair * HOUR) for pair in range(3, 7)]
    discovered = await create(store, 0, "Autumn Cup", None)
    unlinked = [await story.match(status=status) for status in (Status.UPCOMING, Status.LIVE)]
    async with store.autocommit() as tx:
        found = {match.id: match for match in await matches.listing(tx, tuple(Status), limit=100)}
    assert found[finished.id].status is Status.FINISHED
    assert found[live.id].status is Status.LIVE
    assert len(found) == 3 + len(upcoming) + 1 + len(unlinked) and discovered.id in found
    by: dict[Status, list[Match]] = {status: [] for status in Status}
    for match in found.values():
        by[match.status].append(match)
    return by


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_client_finds_everything_that_it_sees(
    client: httpx.AsyncClient,
    key: dict[str, str],
    store: Store,
    played: dict[Status, list[Match]],
    locale: str,
) -> None:
    walker = Walker(client, key, locale, PAGE)
    await walker.start()
    expected = {status: {match_urn(match.number) for match in found} for status, found in played.items()}
    assert walker.virtual_host == "acme"
    assert (
        expected[Status.UPCOMING] | expected[Status.DISCOVERED] | expected[Status.LIVE]
        <= walker.seen["event"]
    )
    assert expected[Status.FINISHED] <= walker.seen["event"], "the day's schedule has it"
    assert walker.seen["player"], "those who played are known"
    assert len(walker.seen["tournament"]) >= 6
    await _markets_are_described(client, key, walker)
    await _recoveries_replay_nothing_else(client, key, store, walker)


async def _markets_are_described(client: httpx.AsyncClient, key: dict[str, str], walker: Walker) -> None:
    offered = 0
    for event in walker.seen["event"]:
        answer = await client.get(f"/cs2/v1/matches/{event}/markets.xml", headers=key)
        assert answer.status_code == 200
        for market in etree.fromstring(answer.content).iter("market"):
            offered += 1
            described = walker.markets[market.get("id")]
            assert set(specifier_values(market.get("specifiers", ""))) == described
            assert [node.get("id") for node in market] == ["1"]
    assert offered > 10


async def _recoveries_replay_nothing_else(
    client: httpx.AsyncClient, key: dict[str, str], store: Store, walker: Walker
) -> None:
    """Every match and every market that a recovery would replay is known from before."""
    tenant = await give_vhost(store)
    (producer,) = walker.producers
    after = system_clock() - 2 * HOUR
    requests = {f"/v1/{producer}/recovery/initiate_request?after={after}&request_id=1"}
    for event in walker.seen["event"]:
        requests |= {
            f"/v1/{producer}/{what}/events/{event}/initiate_request?"
            for what in ("odds", "stateful_messages")
        }
    replayed = 0
    for node, path in enumerate(sorted(requests), start=1):
        answer = await client.post(f"{path}&node_id={node}", headers=key)
        request_id = document(answer, "response", 202).get("request_id")
        async with store.autocommit() as tx:
            job = await recovery_jobs.find(tx, tenant.id, request_id, str(node))
        assert job
        replay = RecoveryPlan(store, job)
        for step in await replay.steps():
            for message in await replay.messages(step, system_clock()):
                replayed += 1
                assert match_urn(message.number) in walker.seen["event"]
                for market in (*message.markets, *message.entries):
                    assert set(specifier_values(market.specifiers)) == walker.markets[str(market.type_id)]
    assert replayed > len(walker.seen["event"])
