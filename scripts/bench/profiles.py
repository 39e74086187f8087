"""What profiles cost: copies a second to many tenants that have one profile, two or five, or standard odds.

    python -m scripts.bench.profiles [--tenants 50] [--copies 20000] [--runs 3]

Each envelope is rendered from its rows of the change log, once a profile, and published with confirms to
every tenant's vhost, in turn, in one run; a copy counts when it lies in the tenant's queue. Ratios are to one
profile. Then: how long the change log is locked while one tenant gets another profile, by open matches.
"""

import argparse
import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from decimal import Decimal
from functools import partial
from statistics import median
from uuid import uuid4

import msgspec

from app import settings as configuration
from app.access import admin, profiles
from app.access.profiles import ProfileDraft
from app.amqp.envelope import Envelope, EnvelopeRenderer
from app.broker.address import parse
from app.broker.management import Management
from app.domain.market import Market, MarketStatus, market_name
from app.domain.match import Match, Status
from app.domain.profiles import Profile, ProfileChange
from app.domain.tenant_offer import NO_CHANGES, TenantOffer
from app.domain.trading_controls import MarginControl
from app.settings import Settings
from app.store import markets, matches
from app.store.changes import ChangeRow
from app.store.connections import open_store
from scripts import services
from scripts.bench.feed import EXCHANGE, MATCH, Figure, measure, ours
from scripts.lab.own_data import database, vhost

_MARKETS = 72
_SWITCHED_MARKETS, _OPEN_MATCHES = 150, (10, 40, 160)
_STANDARD, _ONE = "standard odds", "1 profile"
_encode = msgspec.json.Encoder().encode


def _market(number: int) -> Market:
    chance = 0.05 + 0.9 * number / _MARKETS
    odds = Decimal(f"{1 / chance / 1.06:.3f}")
    name = f"map=1|round={number}|team=home"
    group = f"round_winner:map=1|round={number}"
    return Market(13, name, MarketStatus.ACTIVE, odds, chance, group, phase="in_play")


def _profile(number: int) -> Profile:
    margins = (
        MarginControl(0.03 + number / 100),
        MarginControl(0.05 + number / 100, phase="in_play"),
        MarginControl(0.07 + number / 100, family="round_winner", phase="in_play", long_shots=0.3),
    )
    return Profile(f"profile-{number}", 1, margins, min_move=0.01)


def _envelopes() -> Callable[[int], Envelope]:
    book = [_market(number) for number in range(_MARKETS)]
    bodies = [(market_name(*one.key), _encode(one)) for one in book]
    renderer = EnvelopeRenderer(EXCHANGE, 2)

    def envelope(seq: int) -> Envelope:
        now = time.time_ns() // 1_000_000
        frame, message = "market.updated", "odds_change"
        rows = [
            ChangeRow(seq, MATCH, 4711, "market", name, frame, message, now, seq, seq - 1, body)
            for name, body in bodies
        ]
        return renderer.envelope(rows)

    return envelope


def _offers(profiles: int) -> list[TenantOffer]:
    if not profiles:
        return [NO_CHANGES]
    return [TenantOffer((), (ProfileChange(0, 0, _profile(number)),)) for number in range(profiles)]


def _report(found: dict[str, list[Figure]]) -> None:
    rates = {name: median(each.rate for each in own) for name, own in found.items()}
    for name, own in found.items():
        cpu = median(each.cpu for each in own)
        print(f"{name:>14} {rates[name]:>10.0f} {cpu:>18.1f} {rates[name] / rates[_ONE]:>18.2f}x", flush=True)


def _microseconds() -> float:
    """What a profile takes for the odds of a market."""
    profile, book = _profile(1), [_market(number) for number in range(_MARKETS)]
    began, rounds = time.process_time(), 300
    for _ in range(rounds):
        for one in book:
            profile.priced(one)
    return (time.process_time() - began) / rounds / _MARKETS * 1e6


async def _switch(loaded: Settings, open_matches: int) -> float:
    """Seconds that a tenant's change of profile takes, most of them under the change log's lock."""
    async with (
        database(loaded) as settings,
        await open_store(settings.database_url, 2) as store,
    ):
        book = [_market(number) for number in range(_SWITCHED_MARKETS)]
        async with store.transaction() as tx:
            tenant = await admin.create_tenant(tx, "bench", "Bench", by="bench", now=1)
            await profiles.publish(tx, "bench", ProfileDraft((MarginControl(0.08),)), by="bench", now=1)
            for number in range(1, open_matches + 1):
                match = Match(uuid4(), number, "Northwind", "Harbour", "Bench Cup", status=Status.LIVE)
                await matches.insert(tx, match)
                await tx.write(markets.save_statements(match.id, book))
        began = time.perf_counter()
        async with store.transaction() as tx:
            await profiles.assign(tx, tenant.slug, "bench", by="bench", now=2)
        return time.perf_counter() - began


async def main(tenants: int, copies: int, runs: int) -> None:
    loaded = configuration.load()
    broker = parse(loaded.rabbitmq_url)
    counts = {_STANDARD: 0, _ONE: 1, "2 profiles": 2, "5 profiles": 5}
    async with Management(loaded.rabbitmq_api_url) as management, AsyncExitStack() as stack:
        vhosts = [await stack.enter_async_context(vhost(management)) for _ in range(tenants)]
        for each in vhosts:
            await management.put_exchange(each, EXCHANGE, "topic")
        print(f"{tenants} tenants, envelopes of {_MARKETS} markets, medians of {runs} runs in turn")
        print(f"{'':>14} {'copies/s':>10} {'us of CPU a copy':>18} {'to 1 profile':>19}")
        found: dict[str, list[Figure]] = {name: [] for name in counts}
        for _ in range(runs):
            for name, count in counts.items():
                way = partial(ours, envelope=_envelopes(), offers=_offers(count))
                found[name].append(await measure(name, way, broker, vhosts, copies))
        _report(found)
    print(f"odds of a market by a profile: {_microseconds():.1f} us")
    for count in _OPEN_MATCHES:
        seconds = median([await _switch(loaded, count) for _ in range(runs)])
        print(
            f"another profile, {count} matches of {_SWITCHED_MARKETS} open markets: {seconds:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tenants", type=int, default=50)
    parser.add_argument("--copies", type=int, default=20_000, help="copies that each way publishes in a run")
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS):
        asyncio.run(main(chosen.tenants, chosen.copies, chosen.runs))
