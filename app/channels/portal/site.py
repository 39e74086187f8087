"""The portal as a site: where it is, and the pages that all link to."""

from pathlib import Path
from typing import Any

from app.channels.portal.permissions import allowed, check
from app.domain.user import SignedIn
from app.pages.site import Site

_NAVIGATION = (
    ("/portal", "overview.title"),
    ("/portal/feed", "feed.title"),
    ("/portal/envelopes", "envelopes.title"),
    ("/portal/recoveries", "recoveries.title"),
    ("/portal/offer", "offer.title"),
    ("/portal/market-types", "market_types.title"),
    ("/portal/settlements", "settlements.title"),
    ("/portal/selfcheck", "selfcheck.title"),
    ("/portal/keys", "keys.title"),
    ("/portal/amqp", "amqp.title"),
    ("/portal/docs", "docs.title"),
    ("/portal/people", "people.title"),
    ("/portal/account", "account.title"),
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
SIGN_IN = PORTAL.sign_in_path
