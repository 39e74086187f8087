"""The real log as servers write it when things go wrong (a crash and a backup, names with quotes, no last
line): what is published in the end equals what is published of the plain log, on every channel."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import pytest
from lxml import etree
from matchfeed_client.book import Book, State
from matchfeed_client.decoding import decode

from app.amqp.envelope import EnvelopeRenderer
from app.domain import maps
from app.settings import Settings
from app.store import history
from app.store.connections import Store
from tests.e2e.test_real_log import working
from tests.support import crashed_logs, log_runs, real_match, stored
from tests.support.eventually import eventually
from tests.support.queues import private_vhost
from tests.support.web import issuing, serving

Results = dict[str, str]


class Outcome(NamedTuple):
    """What is known of a match in the end; `results` by market, with those that the feed published."""

    rounds: list[Any]
    events: list[Any]
    results: Results
    published: Results
    score: Any


class Service(NamedTuple):
    client: httpx.AsyncClient
    headers: dict[str, str]
    store: Store


@pytest.fixture
async def service(settings: Settings, store: Store) -> AsyncIterator[Service]:
    key = await issuing(store, settings.secret_key)(bundles=("cs2.operator",), rate_limit_rpm=100_000)
    async with private_vhost(settings) as private, serving(private) as client, working(private, store):
        yield Service(client, {"X-API-Key": key}, store)


async def played(
    service: Service, runs: list[str], home: str = real_match.HOME, away: str = real_match.AWAY
) -> Outcome:
    """The match of these runs, once it is over."""
    body = {
        **{"team_a": home, "team_b": away, "event": "Test Cup"},
        **{"home_strength": 1500, "away_strength": 1500},
    }
    before = await stored.head(service.store)
    answer = await service.client.post("/ops/v1/matches", headers=service.headers, json=body)
    made = answer.json()["data"]
    await log_runs.send(service.client, made["log_sink_url"], runs)

    async def get_page(path: str = "") -> Any:
        found = await service.client.get(f"/cs2/v1/matches/{made['id']}{path}", headers=service.headers)
        return found.json()

    async def match() -> Any:
        return (await get_page())["data"]

    # Seldom: the match, its worker and its reader share a process.
    seen = await eventually(match, lambda match: match["status"] == "finished", seconds=60, every=0.2)
    settlements, cursor = [], ""
    while cursor is not None:
        page = await get_page(f"/settlements?limit=1000{cursor and f'&cursor={cursor}'}")
        settlements, cursor = settlements + page["data"], page["meta"].get("next_cursor")
    async with service.store.autocommit() as tx:
        entries = await history.ledger(tx, UUID(made["id"]))
    assert len(entries) == len(settlements)
    book, published = await received(service.store, UUID(made["id"]), before)
    await check_book(service, book)
    return Outcome(
        [_without(one, "id", "started_at", "ended_at") for one in seen["rounds"]],
        sorted((_event(one) for one in seen["events"]), key=repr),
        {
            f"{entry.type_id}:{entry.specifiers}": str(entry.result)
            for entry in entries
            if not entry.void_window
        },
        published,
        [_without(one, "started_at", "finished_at") for one in seen["maps"]],
    )


async def received(store: Store, match_id: UUID, before: int) -> tuple[Book, Results]:
    """The book and the results of a client that received every message about the match, which begin after
    the change `before`."""
    book, results = Book(), Results()
    book.due = False
    for envelope in EnvelopeRenderer("oddsfeed", 2).envelopes(await stored.changes_after(store, before)):
        if envelope.match_id != match_id:
            continue
        message = decode(envelope.message.body)
        assert message is not None
        book.receive(message)
        _fold(etree.fromstring(envelope.message.body), results)
    return book, results


def _fold(root: etree._Element, results: Results) -> None:
    for market in root.iter("market"):
        name = f"{market.get('id')}:{market.get('specifiers', '')}"
        if root.tag == "bet_settlement":
            (outcome,) = market.iter("outcome")
            results[name] = {"1": "won", "0": "lost"}[outcome.get("result", "")]
        elif root.tag == "bet_cancel" and root.get("start_time") is None:
            results[name] = "void"
        elif root.tag == "rollback_bet_settlement" or (
            root.tag == "rollback_bet_cancel" and root.get("start_time") is None
        ):
            del results[name]


async def check_book(service: Service, book: Book) -> None:
    """No market is open, by the client's book and by the self-check of it."""
    assert all(offer.state is State.CLOSED for offers in book.offers.values() for offer in offers.values())
    matches = [{"match": urn, "markets": []} for urn in book.offers]
    answer = await service.client.post(
        "/cs2/v1/selfcheck", headers=service.headers, json={"matches": matches}
    )
    assert answer.json()["data"]["count"] == 0


def _without(shown: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if name not in names}


def _event(shown: dict[str, Any]) -> dict[str, Any]:
    """An event without times and names; its players are known by their accounts, in `meta`."""
    return _without(shown, "id", "time", "time_offset_seconds", "actor", "target", "assister")


async def test_every_variant_is_published_as_the_plain_log(
    service: Service, data: Path, real_log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "END_WAIT_MILLIS", 500)  # of the log without an end
    runs = dict(log_runs.variants(data, real_log))
    plain = await played(service, runs.pop("plain"))
    assert len(plain.rounds) == 15
    for name, texts in runs.items():
        check_equal(await played(service, texts), plain, name, least=250)


def check_equal(found: Outcome, plain: Outcome, name: str, *, least: int) -> None:
    """The same is published, with the results of at least so many markets."""
    assert found.rounds == plain.rounds, name
    assert found.events == plain.events, name
    assert found.score == plain.score, name
    for results, true in ((found.results, plain.results), (found.published, plain.published)):
        both = results.keys() & true.keys()
        assert {key: results[key] for key in both} == {key: true[key] for key in both}, name
        assert len(both) > least, name
    assert found.published == found.results, name


async def check_histories(service: Service, seeds: Iterable[int]) -> None:
    for seed in seeds:
        print(f"seed {seed}", flush=True)
        found = crashed_logs.history(seed)
        teams = (found.plan.home.name, found.plan.away.name)
        plain = await played(service, [found.plain], *teams)
        check_equal(await played(service, found.runs, *teams), plain, f"seed {seed}", least=100)


async def test_simulated_servers_that_crash_are_published_as_those_that_did_not(service: Service) -> None:
    """24 rounds and 30, with overtimes and without."""
    await check_histories(service, (0, 1, 3))


@pytest.mark.long
@pytest.mark.timeout(7_200)
async def test_many_simulated_servers_that_crash(service: Service) -> None:
    await check_histories(service, range(200))
