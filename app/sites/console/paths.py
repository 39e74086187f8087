"""Where pages about a match are."""

from urllib.parse import quote

from app.domain.ids import match_urn
from app.domain.market import MarketKey, market_name


def match_path(number: int) -> str:
    """The page of a match."""
    return f"/console/matches/{match_urn(number)}"


def market_path(number: int, key: MarketKey) -> str:
    """The page of one of its markets."""
    return f"{match_path(number)}/markets/{quote(market_name(*key), safe=':=')}"


def consent_path(number: int) -> str:
    """The page of a command that waits for consent."""
    return f"/console/consents/{number}"
