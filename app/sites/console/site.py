"""The console as a site: where it is, and the pages that all link to."""

from pathlib import Path
from typing import Any

from app.domain.tenant import SignedIn
from app.sites.console.permissions import allowed, check
from app.sites.pages.site import Entry, Site

_NAVIGATION = (
    Entry("/console", "live.title", "l"),
    Entry("/console/settlements", "settlements.title", "s"),
    Entry("/console/consents", "consents.title", "c"),
    Entry("/console/tenants", "tenants.title", "t"),
    Entry("/console/audit", "records.title", "a"),
    Entry("/console/account", "account.title", "y"),
)


def _describe(signed_in: SignedIn | None) -> dict[str, Any]:
    """`user` and `permissions`, None and empty before signing in; there is no `tenant`."""
    if signed_in is None:
        return {"user": None, "tenant": None, "permissions": frozenset()}
    return {"user": signed_in.user, "tenant": None, "permissions": allowed(signed_in.user.operator_role)}


CONSOLE = Site(
    "/console",
    Path(__file__).parent,
    session_cookie="matchfeed-console",
    navigation=_NAVIGATION,
    describe=_describe,
    check=lambda signed_in, permission: check(signed_in.user.operator_role, permission),
)
