"""Every reason that the service itself gives has a code, and every code is described.

The reasons of pauses are ours: a game server's word for one never leaves us.
"""

import ast
import re
from collections.abc import Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import app
from app.domain import doubts, trading_controls
from app.domain import facts as f
from app.domain.catalogue import LOCALES, load
from app.domain.lifecycle import suspend
from app.domain.market import HELD, Market, MarketStatus
from app.domain.match import Match, Status
from app.domain.profiles import REASON as BELOW_LOWEST
from app.domain.suspension_reasons import (
    LATE_FACTS,
    OFF_OFFER,
    code_of,
    in_words,
    market_reason_code,
    match_reason_code,
    pause_reason,
    pause_reason_of,
)
from app.domain.tenant_offer import REASON as TYPE_OFF
from tests.unit.domain.play import Server, new_match

SOURCES = Path(app.__file__).parent
CODES = {each.code for each in load().suspension_reasons}
CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
MATCH = Match(UUID(int=7), 7, "Northwind", "Harbour", "Cup", status=Status.LIVE)
#: Texts that reach `raise_doubt` as the value of a variable.
PASSED_ON = {
    "the server plays 12+3 rounds, the match has 24+6",
    "sides changed after round 6: this is no map of 24 rounds",
    "sides did not change after round 12: this is no map of 24 rounds",
    "map ended undecided at 11:12",
    "rounds are played that cannot be counted: no map has begun",
    doubts.LOG_GAP,
    doubts.SERVER_SILENT,
    doubts.PROCESSING_STOPPED,
    doubts.DATABASE_RESTORED,
    doubts.DATABASE_FAILED_OVER,
}
#: Where a variable is passed on: a new place is added here, and its texts above.
PASSING = {
    "app.ingest.match_checks",
    "app.operations.restoration.suspension",
    "app.domain.series",
    "app.domain.lifecycle",
    "app.domain.formats",
    "app.domain.transitions",
}


def market(reason: str, *, settled_by: str = "", status: MarketStatus = MarketStatus.SUSPENDED) -> Market:
    return Market(1, "team=home", status, Decimal(2), 0.5, reason=reason, settled_by=settled_by)


def given_reasons() -> Iterator[tuple[str, ast.expr]]:
    """The third argument of every call of `raise_doubt`, with its module."""
    for path in sorted(SOURCES.rglob("*.py")):
        module = ".".join(("app", *path.relative_to(SOURCES).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text())):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and isinstance(called, ast.Name) and called.id == "raise_doubt":
                yield module, node.args[2]


def text_of(module: str, given: ast.expr) -> str | None:
    """What is given, places for values filled with 7; None for the value of a variable."""
    if isinstance(given, ast.Name) and given.id.isupper():
        return str(getattr(import_module(module), given.id))
    if isinstance(given, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "7" for one in given.values)
    return str(given.value) if isinstance(given, ast.Constant) else None


def test_every_reason_that_suspends_a_match_has_a_code() -> None:
    given = [(module, text_of(module, one)) for module, one in given_reasons()]
    texts = {text for _, text in given if text is not None}
    assert len(texts) > 10
    assert [text for text in sorted(texts | PASSED_ON) if code_of(text) is None] == []
    assert {module for module, text in given if text is None} == PASSING


@pytest.mark.parametrize(
    "text",
    sorted(
        {*trading_controls.CONTROL_REASONS, OFF_OFFER, LATE_FACTS, TYPE_OFF, BELOW_LOWEST, doubts.BY_OPERATOR}
    ),
)
def test_every_reason_that_suspends_a_market_has_a_code_of_its_own(text: str) -> None:
    assert code_of(text) in CODES - {"other", "paused", "rolled_back"}


def test_every_code_is_described_in_every_language_once() -> None:
    reasons = load().suspension_reasons
    assert len(CODES) == len(reasons)
    for each in reasons:
        assert re.fullmatch(r"[a-z_]+", each.code)
        for locale in LOCALES:
            described = each.description.get(locale)
            assert described.endswith(".") and bool(CYRILLIC.search(described)) == (locale == "ru")


@pytest.mark.parametrize("text", sorted(PASSED_ON))
def test_codes_are_those_of_the_catalogue(text: str) -> None:
    assert code_of(text) in CODES


def test_a_market_on_offer_has_no_code() -> None:
    assert market_reason_code(market("", status=MarketStatus.ACTIVE)) is None
    assert market_reason_code(market("map won 13:5", status=MarketStatus.SETTLED)) is None


def test_a_market_with_a_text_of_its_own_was_rolled_back() -> None:
    rolled_back = market("the wrong map was counted", settled_by=HELD)
    assert market_reason_code(rolled_back) == "rolled_back"
    assert market_reason_code(market("")) == "other"
    # A known text goes before: the market has been on offer since its result was rolled back.
    assert market_reason_code(market("paused", settled_by="engine")) == "paused"
    assert market_reason_code(market(doubts.SERVER_SILENT, settled_by="engine")) == "silent_source"


def test_an_operators_own_text_has_the_operators_code() -> None:
    assert match_reason_code(MATCH) is None
    suspended, _ = suspend(MATCH, "the game server is silent")
    assert match_reason_code(suspended) == "operator"


def test_pages_show_a_reason_in_their_language() -> None:
    assert in_words(doubts.SERVER_SILENT, "en") == doubts.SERVER_SILENT
    assert in_words(doubts.SERVER_SILENT, "ru").startswith("Игровой сервер молчит")
    assert in_words("nobody of Northwind is on the server", "ru").endswith(
        " (nobody of Northwind is on the server)"
    )
    assert in_words("the wrong map was counted", "ru") == "the wrong map was counted"


#: What servers write: from real logs, public parsers and the settings of the same names.
WORDS = {
    "TimeOutCTs": "tactical_timeout",
    "TimeOutTs": "tactical_timeout",
    "TechnicalTimeout": "technical_timeout",
    "TechnicalTimeOutCTs": "technical_timeout",
    "mp_halftime_pausematch": "half_time",
    "mp_halftime_pausetimer": "half_time",
    "mp_overtime_halftime_pausetimer": "half_time",
    "mp_pause_match": "paused_by_admin",
    "paused": "paused",
    "css_pause by a plugin": "paused",
}


@pytest.mark.parametrize("word", WORDS)
def test_each_known_word_has_its_code(word: str) -> None:
    assert code_of(pause_reason_of(word)) == WORDS[word]


@given(st.text(min_size=1))
def test_any_word_has_a_reason_of_ours_that_does_not_repeat_it(word: str) -> None:
    said = pause_reason_of(word)
    assert code_of(said) in CODES
    assert said == "paused" or word in WORDS or re.match("technical|mp_", word, re.IGNORECASE)


def test_a_time_out_names_its_team_once_the_sides_are_known(server: Server) -> None:
    assert pause_reason(replace(new_match(), pause="TimeOutTs")) == "tactical time-out of T"
    assert server.match.map is not None and server.match.map.home_side is not None
    whose = {server.match.map.home_side: server.match.home}
    for word, side in (("TimeOutCTs", "CT"), ("TimeOutTs", "T")):
        server.report(f.Paused(at=server.later(), reason=word))
        team = whose.get(side, server.match.away)
        assert pause_reason(server.match) == f"tactical time-out of {team}"
        assert in_words(pause_reason(server.match), "ru") == f"Команда взяла тактический тайм-аут. ({team})"
    server.report(f.Resumed(at=server.later(), reason="TimeOutTs"))
    assert pause_reason(server.match) == ""
