"""Codes of the reasons for which offers are suspended: for clients that decide by the reason.

The stored reason is English text. Its code follows from the text, so that what was stored before codes
existed has one too. The catalogue describes each code in every language.

The reasons of a pause are texts of ours. The state of a match has the game server's own word, which clients
never receive: it differs between servers and plugins.
"""

import re
from functools import lru_cache

from app.domain import profiles, tenant_offer
from app.domain.catalogue import Locale, Text, load
from app.domain.doubts import (
    BY_OPERATOR,
    DATABASE_FAILED_OVER,
    DATABASE_RESTORED,
    LOG_GAP,
    NO_BEGINNING,
    OPERATOR,
    PROCESSING_STOPPED,
    SERVER_SILENT,
    UNREAD_LINE,
    public_reason,
)
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Side
from app.domain.sides import team_on
from app.domain.trading_controls import (
    CONTRADICTS_HELD,
    LINE_WITHDRAWN,
    MARKET_SUSPENDED,
    MOVED_TOO_FAR,
    TYPE_CLOSED,
)

TECHNICAL_TIMEOUT = "technical time-out"
HALF_TIME = "half-time pause"
PAUSED_BY_ADMIN = "paused by the game server's admin"
PAUSED = "paused"  #: for a cause that the server does not name, or that we do not know
_TACTICAL_TIMEOUTS: dict[str, Side] = {"TimeOutCTs": "CT", "TimeOutTs": "T"}
_OTHERS = (
    (r"technical_?time_?out.*", TECHNICAL_TIMEOUT),
    (r"mp_(overtime_)?halftime_pause(match|timer)", HALF_TIME),
    (r"mp_pause_match", PAUSED_BY_ADMIN),
)


def pause_reason(match: Match) -> str:
    """Why play is paused: a time-out names its team, or its side while the sides of teams are unknown. ""
    while play is not paused."""
    if match.pause not in _TACTICAL_TIMEOUTS:
        return pause_reason_of(match.pause)
    side = _TACTICAL_TIMEOUTS[match.pause]
    team = team_on(match.map, side) if match.map else None
    names = {None: side, "home": match.home, "away": match.away}
    return _tactical_timeout(names[team])


def pause_reason_of(word: str) -> str:
    """The same for the server's word alone."""
    if not word:
        return ""
    if word in _TACTICAL_TIMEOUTS:
        return _tactical_timeout(_TACTICAL_TIMEOUTS[word])
    known = (text for pattern, text in _OTHERS if re.fullmatch(pattern, word, re.IGNORECASE | re.DOTALL))
    return next(known, PAUSED)


def _tactical_timeout(whose: str) -> str:
    return f"tactical time-out of {whose}"


#: Why a market is suspended that the state of the match does not demand.
OFF_OFFER = "not on offer now"
LATE_FACTS = "facts came late"  #: why nothing is on offer until newer lines come

ROLLED_BACK, OTHER = "rolled_back", "other"
#: Codes of the reasons that play itself explains: nobody need look at these suspensions.
OF_PLAY = frozenset(
    {"not_on_offer", "tactical_timeout", "technical_timeout", "half_time", "paused_by_admin", "paused"}
)
#: Codes of what operators do to markets; of what they do in words of their own there is none.
OF_OPERATORS = frozenset(
    {
        "market_suspended_by_operator",
        "type_closed_by_operator",
        "line_withdrawn_by_operator",
        "held_probability",
        None,
    }
)

_OF_TEXTS = {
    BY_OPERATOR: OPERATOR,
    SERVER_SILENT: "silent_source",
    PROCESSING_STOPPED: "processing_stopped",
    LOG_GAP: "missing_data",
    NO_BEGINNING: "missing_data",
    UNREAD_LINE: "line_not_understood",
    DATABASE_RESTORED: "database_restored",
    DATABASE_FAILED_OVER: "database_failover",
    LATE_FACTS: "late_data",
    "a second game server claims the match": "rival_source",
    "another log source is followed, its score is awaited": "source_changed",
    "the game server restarted the map": "map_restarted",
    "a restart was announced": "map_restarted",
    "which team plays which side is not known yet": "unknown_sides",
    "a team surrendered, sides unknown": "unknown_sides",
    "the map ended in play that an operator does not count": "map_contradiction",
    OFF_OFFER: "not_on_offer",
    tenant_offer.REASON: "type_switched_off",
    profiles.REASON: "below_lowest_odds",
    MARKET_SUSPENDED: "market_suspended_by_operator",
    TYPE_CLOSED: "type_closed_by_operator",
    LINE_WITHDRAWN: "line_withdrawn_by_operator",
    CONTRADICTS_HELD: "held_probability",
    MOVED_TOO_FAR: "moved_too_far",
    TECHNICAL_TIMEOUT: "technical_timeout",
    HALF_TIME: "half_time",
    PAUSED_BY_ADMIN: "paused_by_admin",
    PAUSED: "paused",
}
#: Texts that name what they are about; `about` is all that a translation needs beside the code.
_OF_PATTERNS = (
    (r"tactical time-out of (?P<about>.*)", "tactical_timeout"),
    (r"a backup of round \d+ is being restored", "backup_restored"),
    (r"the map was restarted at a lower score: .*", "restarted_lower"),
    (r"rounds are played that cannot be counted: .*", "uncounted_rounds"),
    (r"map ended CT \d+, T \d+, sides unknown", "unknown_sides"),
    (r"unknown teams: .*", "unknown_teams"),
    (r"the log says CT \d+, T \d+, which disagrees with .* counted", "score_contradiction"),
    (r".* loaded before .* was decided", "map_contradiction"),
    (
        r"the game server's statistics contradict the events of round (?P<about>\d+)",
        "statistics_contradiction",
    ),
    (r"map \d+ goes on after its end at \d+:\d+", "map_contradiction"),
    (r"map ended undecided at \d+:\d+", "map_contradiction"),
    (r"the server plays \d+\+\d+ rounds, the match has \d+\+\d+", "format_contradiction"),
    (r"sides (changed|did not change) after round \d+: .*", "format_contradiction"),
    (r"nobody of .* is on the server", "players_missing"),
    (r"no rating of .*", "unrated_teams"),
    (r"a price moved without a cause: .*", "unexplained_move"),
    (r"reference prices are too far from ours: .*", OPERATOR),
)


@lru_cache(maxsize=4_096)
def code_of(reason: str) -> str | None:
    """The code of a reason in English; None where a person wrote the text."""
    if reason in _OF_TEXTS:
        return _OF_TEXTS[reason]
    return next((code for pattern, code in _OF_PATTERNS if re.fullmatch(pattern, reason, re.DOTALL)), None)


def market_reason_code(market: Market) -> str | None:
    """The code of why a market is suspended; None if it is not."""
    if market.status is not MarketStatus.SUSPENDED:
        return None
    return code_of(market.reason) or (ROLLED_BACK if market.settled_by else OTHER)


def match_reason_code(match: Match) -> str | None:
    """The code of why all offers of a match are suspended; None if they are not."""
    if not match.suspended:
        return None
    return code_of(public_reason(match)) or OTHER


def in_words(reason: str, locale: Locale) -> str:
    """The reason in this language. What the text says beyond its code follows in English; a text without a
    code was written by a person and stays as it is."""
    code = code_of(reason)
    if locale == "en" or code is None:
        return reason
    described = _described()[code].get(locale)
    return described if reason in _OF_TEXTS else f"{described} ({_about(reason)})"


def _about(reason: str) -> str:
    """What a text says beyond its code, or all of it."""
    matches = (re.fullmatch(pattern, reason, re.DOTALL) for pattern, _ in _OF_PATTERNS)
    return next((found.groupdict().get("about", reason) for found in matches if found), reason)


@lru_cache(maxsize=1)
def _described() -> dict[str, Text]:
    return {each.code: each.description for each in load().suspension_reasons}
