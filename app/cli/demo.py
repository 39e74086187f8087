"""The tenants of the demonstration, each made (or made good) with a new key."""

import json
import os
from pathlib import Path
from typing import Any

import click
import msgspec

from app.access import admin
from app.access.properties import Properties
from app.cli.context import broker_of, opened, running, settled, who
from app.domain.scopes import OPERATOR_BUNDLE
from app.domain.tenant import RATE_LIMIT_RPM
from app.kit.clock import system_clock
from app.settings import Settings
from app.store import keys
from app.store.connections import Store

_LABEL = "demo"


class DemoTenant(msgspec.Struct, frozen=True):
    slug: str
    name: str
    bundles: tuple[str, ...]
    sports: tuple[str, ...] = ("cs2",)
    amqp: bool = False
    rpm: int = RATE_LIMIT_RPM


OPERATIONS = DemoTenant("operations", "Operations desk", (OPERATOR_BUNDLE,), ("cs2", "soccer"))
DEMO_TENANTS = (
    DemoTenant(
        "acme",
        "Acme Sportsbook",
        ("cs2.odds.basic", "cs2.odds.scoreboard-addon"),
        ("cs2", "soccer"),
        amqp=True,
    ),
    DemoTenant("beta", "Beta Bets", ("cs2.odds.basic",), amqp=True),
    DemoTenant("statsco", "Stats Company", ("cs2.stats",)),
    DemoTenant("scoreline", "Scoreline", ("cs2.scoretock",)),
    DemoTenant("newco", "New Company", ("cs2.odds.basic",)),
)
#: The customer that the boards watch: with its own key and vhost it is in nobody's way.
BOARD = DemoTenant(
    "board", "The board's bookmaker", ("cs2.odds.basic", "cs2.odds.scoreboard-addon"), amqp=True, rpm=6_000
)


@click.command("demo-tenants")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here (mode 600).")
@running
async def demo_tenants(output: Path | None) -> None:
    """Create the demo's tenants with keys and AMQP access; prints them, and an operator key, as JSON.

    Run again, it issues new keys and passwords; the demo's old ones are dead then.
    """
    text = json.dumps(await make_tenants(settled()), indent=1)
    if output is None:
        click.echo(text)
    else:
        _write_private(output, text)


async def make_tenants(settings: Settings) -> dict[str, Any]:
    """Make the demo's tenants, or make them good; what clients need to know of them, secrets included."""
    async with opened(settings) as store:
        operator = await _with_key(store, settings, OPERATIONS)
        rows = [await _ready(store, settings, asked) for asked in (*DEMO_TENANTS, BOARD)]
    return {"operator_key": operator["api_key"], "tenants": rows[:-1], "board": rows[-1]}


async def _ready(store: Store, settings: Settings, asked: DemoTenant) -> dict[str, Any]:
    row = await _with_key(store, settings, asked)
    if asked.amqp:
        async with broker_of(settings) as broker:
            row["amqp_url"] = await admin.provision_amqp(
                store, asked.slug, broker, by=who(), now=system_clock()
            )
    return row


async def _with_key(store: Store, settings: Settings, asked: DemoTenant) -> dict[str, Any]:
    """The tenant's part of the demo's description, with a fresh key in place of earlier demo keys."""
    now, by = system_clock(), who()
    properties = Properties(
        bundles=asked.bundles, sports=asked.sports, label=_LABEL, rate_limit_rpm=asked.rpm
    )
    async with store.transaction() as tx:
        tenant = await admin.create_tenant(tx, asked.slug, asked.name, by=by, now=now)
        for old in await keys.listing(tx, tenant.id):
            if old.active and old.label == _LABEL:
                await admin.revoke_key(tx, old.id, by=by, now=now)
        issued = await admin.issue_key(tx, asked.slug, properties, secret=settings.secret_key, by=by, now=now)
    return {
        "slug": asked.slug,
        "name": asked.name,
        "bundles": list(asked.bundles),
        "sport_allowlist": list(asked.sports),
        "api_key": issued.raw,
        "amqp_url": None,
    }


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    os.chmod(path, 0o600)
    path.write_text(text, "utf-8")
