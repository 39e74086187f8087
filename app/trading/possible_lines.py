"""Whether a line of a total or a handicap could be on offer."""

from app.domain.match import Match
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts
from app.trading.offer_plan import possible_markets
from app.trading.rules import Rule
from app.trading.specifiers import Specifiers


def is_possible_line(match: Match, rule: Rule, specifiers: Specifiers, now: int) -> bool:
    """Whether these are the specifiers of a line that is not decided, of a map or round that may be on offer
    at `now` (Unix ms)."""
    forecast = Forecast(collect_facts(match, ()), now)
    return any(specifiers == possible for possible in possible_markets(rule, forecast))
