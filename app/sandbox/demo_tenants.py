"""The tenants of the demonstration, each created, or repaired, with a new key and an owner's new password;
and its operators, one of each role."""

import asyncio
import secrets
from typing import Any

import msgspec

from app.access import admin, users
from app.access.admin import BrokerConfig
from app.access.api_keys import KeyProperties
from app.access.profiles import ProfileDraft, assign, publish
from app.domain.profiles import StakeRule
from app.domain.scopes import OPERATOR_BUNDLE
from app.domain.tenant import RATE_LIMIT_RPM, SDK_RATE_LIMIT_RPM, OperatorRole, Role, Tenant, User
from app.domain.trading_controls import MarginControl
from app.kit.clock import system_clock
from app.store import keys, profiles
from app.store import users as stored_users
from app.store.connections import Store
from app.store.transaction import Tx

_LABEL = "demo"


class DemoTenant(msgspec.Struct, frozen=True):
    slug: str
    name: str
    bundles: tuple[str, ...]
    sports: tuple[str, ...] = ("cs2",)
    amqp: bool = False
    rpm: int = RATE_LIMIT_RPM
    profile: str | None = None


OPERATIONS = DemoTenant("operations", "Operations desk", (OPERATOR_BUNDLE,), ("cs2", "soccer"))
#: More margin where more is at risk: in play, in last rounds and on long shots.
CAUTIOUS = ProfileDraft(
    margins=(
        MarginControl(0.07, long_shots=0.2),
        MarginControl(0.08, phase="in_play", long_shots=0.2),
        MarginControl(0.1, phase="last_rounds", long_shots=0.2),
    ),
    min_odds=1.03,
    min_move=0.01,
    stakes=(StakeRule(phase="last_rounds", factor=0.5, delay_seconds=2),),
)
PROFILES = {"cautious": CAUTIOUS}
DEMO_TENANTS = (
    DemoTenant(
        "acme",
        "Acme Sportsbook",
        ("cs2.odds.basic", "cs2.odds.scoreboard-addon"),
        ("cs2", "soccer"),
        amqp=True,
    ),
    DemoTenant(
        "beta", "Beta Bets", ("cs2.odds.basic",), amqp=True, rpm=SDK_RATE_LIMIT_RPM, profile="cautious"
    ),
    DemoTenant("statsco", "Stats Company", ("cs2.stats",)),
    DemoTenant("scoreline", "Scoreline", ("cs2.scoretock",)),
    DemoTenant("newco", "New Company", ("cs2.odds.basic",)),
)
#: The tenant of the page at /: a key and a vhost of its own, so that it disturbs no other tenant.
BOARD = DemoTenant(
    "board", "The board's bookmaker", ("cs2.odds.basic", "cs2.odds.scoreboard-addon"), amqp=True, rpm=6_000
)


class DemoTenantMaker:
    """Creates tenants with keys and vhosts; `by` is the actor in the audit records."""

    def __init__(self, store: Store, broker: BrokerConfig, secret_key: str, by: str) -> None:
        self._store, self._broker, self._secret_key, self._by = store, broker, secret_key, by

    async def make_all(self) -> dict[str, Any]:
        """Create or repair the demo's tenants; what clients need to know of them, secrets included."""
        made = await self.make_keys()
        await self.make_vhosts(made)
        return made

    async def make_keys(self) -> dict[str, Any]:
        """All of it that is in the database: the vhosts are missing, and with them the AMQP URLs."""
        for name, content in PROFILES.items():
            async with self._store.transaction() as tx:
                if await profiles.newest(tx, name) is None:
                    await publish(tx, name, content, by=self._by, now=system_clock())
        operator = await self._with_key(OPERATIONS)
        rows = [await self._with_key(tenant) for tenant in (*DEMO_TENANTS, BOARD)]
        return {
            "operator_key": operator["api_key"],
            "operators": [await self._operator(role) for role in OperatorRole],
            "tenants": rows[:-1],
            "board": rows[-1],
        }

    async def make_vhosts(self, made: dict[str, Any]) -> None:
        """Create or repair the vhosts of these tenants, and add the AMQP URLs."""
        rows = {row["slug"]: row for row in (*made["tenants"], made["board"])}
        slugs = [tenant.slug for tenant in (*DEMO_TENANTS, BOARD) if tenant.amqp]
        urls = await asyncio.gather(*(self._vhost(slug) for slug in slugs))
        for slug, url in zip(slugs, urls, strict=True):
            rows[slug]["amqp_url"] = url

    async def _vhost(self, slug: str) -> str:
        return await admin.provision_amqp(self._store, slug, self._broker, by=self._by, now=system_clock())

    async def _operator(self, role: OperatorRole) -> dict[str, str]:
        """An operator of that role, who signs in to the console with a new password; earlier sessions end."""
        now, email = system_clock(), f"{role}@operators.example"
        async with self._store.transaction() as tx:
            present = [
                each for each in await users.operator_listing(tx) if each.active and each.email == email
            ]
            if present:
                user = await users.set_operator_role(tx, email, role, by=self._by, now=now)
            else:
                name = f"Demo: {role}"
                user = await users.create_operator(tx, email, name, role, by=self._by, now=now)
        return {"email": email, "password": await self._new_password(user), "role": role}

    async def _with_key(self, tenant: DemoTenant) -> dict[str, Any]:
        """The tenant's part of the demo's description, with a new key; earlier demo keys are revoked."""
        now, by = system_clock(), self._by
        properties = KeyProperties(
            bundles=tenant.bundles, sports=tenant.sports, label=_LABEL, rate_limit_rpm=tenant.rpm
        )
        async with self._store.transaction() as tx:
            created = await admin.create_tenant(tx, tenant.slug, tenant.name, by=by, now=now)
            for old in await keys.listing(tx, created.id):
                if old.active and old.label == _LABEL:
                    await admin.revoke_key(tx, old.id, by=by, now=now)
            issued = await admin.issue_key(
                tx, tenant.slug, properties, secret=self._secret_key, by=by, now=now
            )
        if tenant.profile and not created.profiles:
            async with self._store.transaction() as tx:
                await assign(tx, tenant.slug, tenant.profile, by=by, now=now)
        return {
            "slug": tenant.slug,
            "name": tenant.name,
            "bundles": list(tenant.bundles),
            "sport_allowlist": list(tenant.sports),
            "api_key": issued.raw,
            "amqp_url": None,
            "users": [await self._with_password(created)],
        }

    async def _with_password(self, tenant: Tenant) -> dict[str, str]:
        """The tenant's owner, who signs in to the portal with a new password; earlier sessions end."""
        now = system_clock()
        async with self._store.transaction() as tx:
            owner = await self._owner(tx, tenant, now)
        return {"email": owner.email, "password": await self._new_password(owner), "role": owner.role}

    async def _new_password(self, user: User) -> str:
        now, password = system_clock(), secrets.token_urlsafe(15)
        async with self._store.transaction() as tx:
            link = await users.issue_link(
                tx,
                user.tenant_id,
                user.id,
                secret=self._secret_key,
                by=self._by,
                now=now,
                without_second_factor=True,
            )
        await users.redeem_link(self._store, link.raw, password, secret=self._secret_key, now=now)
        return password

    async def _owner(self, tx: Tx, tenant: Tenant, now: int) -> User:
        """The demo's owner of the tenant, created if there is none."""
        email = f"owner@{tenant.slug}.example"
        for user in await stored_users.listing(tx, tenant.id):
            if user.active and user.email == email:
                return await users.set_role(tx, tenant.id, user.id, Role.OWNER, by=self._by, now=now)
        return await users.create_user(
            tx, tenant.slug, email, f"{tenant.name}: owner", Role.OWNER, by=self._by, now=now
        )
