"""The pages that every page links to."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A page: its path, the name of its title among the texts, whether it (or one below it) is shown."""

    path: str
    title: str
    current: bool


_PAGES = (
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


def entries(path: str) -> tuple[Entry, ...]:
    """Every page, with that of `path` marked."""
    return tuple(Entry(each, title, _is_current(each, path)) for each, title in _PAGES)


def _is_current(page: str, path: str) -> bool:
    return path == page or (page != "/portal" and path.startswith(f"{page}/"))
