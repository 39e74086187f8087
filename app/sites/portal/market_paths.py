"""Where the pages with markets of a match are."""

from urllib.parse import quote

from app.domain.ids import match_urn
from app.domain.market import MarketKey, market_name


def markets_path(number: int) -> str:
    """The page with the markets of a match."""
    return f"/portal/matches/{match_urn(number)}/markets"


def market_path(number: int, key: MarketKey) -> str:
    """The page with the price history of a market."""
    return f"{markets_path(number)}/{quote(market_name(*key), safe=':=')}"
