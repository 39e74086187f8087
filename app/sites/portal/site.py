"""The portal as a site: where its pages are, those that all link to, and what a user's role allows. Everybody
who is signed in may read what concerns the tenant.
"""

from enum import StrEnum
from pathlib import Path
from urllib.parse import quote, urlencode
from uuid import UUID

from app.domain.ids import match_urn
from app.domain.market import MarketKey, market_name
from app.domain.tenant import Role
from app.kit.errors import Forbidden
from app.sites.pages.site import Entry, Look, Site


class Permission(StrEnum):
    """What a route requires in its `opt["permission"]`."""

    PEOPLE = "people"  #: invite users, change their roles, end them
    CREDENTIALS = "credentials"  #: API keys and AMQP credentials
    RECOVERY = "recovery"
    CLAIMS = "claims"  #: claim that a result is wrong
    OFFER = "offer"  #: which matches are booked, which market types are on


_ALLOWED = {
    Role.OWNER: frozenset(Permission),
    Role.DEVELOPER: frozenset({Permission.CREDENTIALS, Permission.RECOVERY}),
    Role.TRADER: frozenset({Permission.CLAIMS, Permission.OFFER, Permission.RECOVERY}),
    Role.READER: frozenset[Permission](),
}
_CODES = {
    Permission.PEOPLE: "role_people",
    Permission.CREDENTIALS: "role_credentials",
    Permission.RECOVERY: "role_recovery",
    Permission.OFFER: "role_offer",
    Permission.CLAIMS: "role_claims",
}


def check(role: Role, permission: Permission | None) -> None:
    """Raise `Forbidden` unless the role allows it; None: everybody may."""
    if permission is not None and permission not in _ALLOWED[role]:
        holders = " or ".join(each for each in Role if permission in _ALLOWED[each])
        what = f"Your role is {role}; this needs {holders}. Ask an owner of your tenant."
        raise Forbidden(what, code=_CODES[permission])


PORTAL = Site(
    "/portal",
    Path(__file__).parent,
    session_cookie="matchfeed-session",
    default_look=Look("browser", "large"),
    navigation=(
        Entry("/portal", "overview.title"),
        Entry("/portal/feed", "feed.title"),
        Entry("/portal/envelopes", "envelopes.title"),
        Entry("/portal/recoveries", "recoveries.title"),
        Entry("/portal/replays", "replays.title"),
        Entry("/portal/offer", "offer.title"),
        Entry("/portal/market-types", "market_types.title", short="market_types.short"),
        Entry("/portal/settlements", "settlements.title"),
        Entry("/portal/claims", "claims.title"),
        Entry("/portal/ledger", "signed_ledger.title"),
        Entry("/portal/selfcheck", "selfcheck.title", short="selfcheck.short"),
        Entry("/portal/keys", "keys.title", short="keys.short"),
        Entry("/portal/amqp", "amqp.title", short="amqp.short"),
        Entry("/portal/docs", "docs.title", short="docs.short"),
        Entry("/portal/people", "people.title"),
    ),
    allowed=lambda user: _ALLOWED[user.role],
    check=lambda user, permission: check(user.role, permission),
)


def claim_path(claim_id: UUID) -> str:
    """The page of a claim."""
    return f"/portal/claims/{claim_id}"


def new_claim_path(number: int, key: MarketKey) -> str:
    """The page on which a claim about a market is made."""
    return f"/portal/claims/new?{urlencode({'match': match_urn(number), 'market': market_name(*key)})}"


def markets_path(number: int) -> str:
    """The page with the markets of a match."""
    return f"/portal/matches/{match_urn(number)}/markets"


def prices_path(number: int) -> str:
    """The file with the price history of all markets of a match."""
    return f"/portal/matches/{match_urn(number)}/prices.csv"


def market_path(number: int, key: MarketKey) -> str:
    """The page with the price history of a market."""
    return f"{markets_path(number)}/{quote(market_name(*key), safe=':=')}"
