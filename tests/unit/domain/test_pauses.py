"""The reasons of pauses are ours: a game server's word for one never leaves us."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.catalogue import load
from app.domain.suspension_reasons import code_of, in_words, pause_reason, reason_of
from tests.unit.domain.play import Server, new_match

CODES = {each.code for each in load().suspension_reasons}
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
    assert code_of(reason_of(word)) == WORDS[word]


@given(st.text(min_size=1))
def test_any_word_has_a_reason_of_ours_that_does_not_repeat_it(word: str) -> None:
    said = reason_of(word)
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
