"""The console as a site: where its pages are, those that all link to, what an operator's role allows, and the
dependencies of the handlers. Everybody who is signed in may read.
"""

from enum import StrEnum
from pathlib import Path
from urllib.parse import quote, urlsplit
from uuid import UUID

import msgspec
from litestar.di import NamedDependency

from app.broker.management import Management
from app.commands.command_service import CommandService
from app.domain.ids import match_urn
from app.domain.market import MarketKey, market_name
from app.domain.tenant import OperatorRole
from app.kit.clock import Clock
from app.kit.errors import Forbidden
from app.sites.console.row_feed import MatchFeeds, RowFeed
from app.sites.pages.event_streams import OpenStreams
from app.sites.pages.sessions import People
from app.sites.pages.site import Entry, Look, Site
from app.store.connections import Store
from app.store.counters import Counters
from app.trading.pricing import PricingConfig


class Permission(StrEnum):
    """What a route, or a command, requires."""

    ALERTS = "alerts"  #: take and end alerts
    TRADE = "trade"  #: what is on offer and at which price; log sources
    SETTLE = "settle"  #: settle, void, roll back, award
    UNDO = "undo"  #: take back a command that one may give
    PROFILES = "profiles"  #: publish profiles, and give them to tenants
    ACCOUNTS = "accounts"


_ALLOWED = {
    OperatorRole.VIEWER: frozenset[Permission](),
    OperatorRole.TRADER: frozenset({Permission.ALERTS, Permission.TRADE, Permission.UNDO}),
    OperatorRole.SETTLER: frozenset({Permission.ALERTS, Permission.SETTLE, Permission.UNDO}),
    OperatorRole.ADMIN: frozenset(Permission),
}


def allowed(role: OperatorRole | None) -> frozenset[Permission]:
    """What operators of that role may do beside reading; nothing without a role."""
    return _ALLOWED[role] if role else frozenset()


def check(role: OperatorRole | None, permission: Permission | None) -> None:
    """Raise `Forbidden` unless the role allows it; None: everybody may."""
    if permission is not None and permission not in allowed(role):
        holders = " or ".join(each for each in OperatorRole if permission in _ALLOWED[each])
        raise Forbidden(f"Your role is {role}; this needs {holders}. Ask an administrator.")


CONSOLE = Site(
    "/console",
    Path(__file__).parent,
    session_cookie="matchfeed-console",
    default_look=Look("dark", "dense"),
    navigation=(
        Entry("/console", "live.title", "l"),
        Entry("/console/alerts", "alerts.title", "r"),
        Entry("/console/settlements", "settlements.title", "s"),
        Entry("/console/claims", "claims.title", "g"),
        Entry("/console/consents", "consents.title", "c"),
        Entry("/console/closing-line", "closing_line.title", "m"),
        Entry("/console/tenants", "tenants.title", "t"),
        Entry("/console/profiles", "profiles.title", "p"),
        Entry("/console/audit", "records.title", "a"),
        Entry("/console/account", "account.title", "y"),
    ),
    allowed=lambda user: allowed(user.operator_role),
    check=lambda user, permission: check(user.operator_role, permission),
)


def match_path(number: int) -> str:
    """The page of a match."""
    return f"/console/matches/{match_urn(number)}"


def market_path(number: int, key: MarketKey) -> str:
    """The page of one of its markets."""
    return f"{match_path(number)}/markets/{quote(market_name(*key), safe=':=')}"


def claim_path(claim_id: UUID) -> str:
    """The page of a claim."""
    return f"/console/claims/{claim_id}"


def consent_path(number: int) -> str:
    """The page of a command that waits for consent."""
    return f"/console/consents/{number}"


def profile_path(name: str) -> str:
    """The page of a profile."""
    return f"/console/profiles/{name}"


def page_before(given: str, own: str) -> str:
    """The page that a form was on, as the form has it, if it is `own` or below that; else `own`."""
    inside = given == own or given.startswith(f"{own}/")
    return given if inside and not urlsplit(given).query and "\\" not in given else own


class ConsoleDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of the handlers. `secret` keys the hashes of session tokens; `url` is the console's
    address, as browsers reach it; `live` is the feed of the live page, `matches` has those of matches."""

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
    commands: CommandService

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


Console = NamedDependency[ConsoleDependencies]  #: as handlers have them
