"""The portal as a site: where it is, and the pages that all link to."""

from pathlib import Path
from typing import Any

from app.domain.tenant import SignedIn
from app.sites.pages.site import Entry, Site
from app.sites.portal.permissions import allowed, check

_NAVIGATION = (
    Entry("/portal", "overview.title"),
    Entry("/portal/feed", "feed.title"),
    Entry("/portal/envelopes", "envelopes.title"),
    Entry("/portal/recoveries", "recoveries.title"),
    Entry("/portal/offer", "offer.title"),
    Entry("/portal/market-types", "market_types.title"),
    Entry("/portal/settlements", "settlements.title"),
    Entry("/portal/selfcheck", "selfcheck.title"),
    Entry("/portal/keys", "keys.title"),
    Entry("/portal/amqp", "amqp.title"),
    Entry("/portal/docs", "docs.title"),
    Entry("/portal/people", "people.title"),
    Entry("/portal/account", "account.title"),
)


def _describe(signed_in: SignedIn | None) -> dict[str, Any]:
    """`user`, `tenant` and `permissions`: None and empty before signing in."""
    if signed_in is None:
        return {"user": None, "tenant": None, "permissions": frozenset()}
    return {
        "user": signed_in.user,
        "tenant": signed_in.tenant,
        "permissions": allowed(signed_in.user.role),
    }


PORTAL = Site(
    "/portal",
    Path(__file__).parent,
    session_cookie="matchfeed-session",
    navigation=_NAVIGATION,
    describe=_describe,
    check=lambda signed_in, permission: check(signed_in.user.role, permission),
)
