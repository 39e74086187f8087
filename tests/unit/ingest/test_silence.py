"""How long a source may be silent depends on what is being played."""

from pathlib import Path

import pytest

from app.domain import facts as f
from app.ingest import match_checks
from app.ingest.log_update import IngestConfig
from scripts.bench.silence import silences
from tests.unit.domain.play import Server

CONFIG = IngestConfig()


@pytest.fixture
def server(server: Server) -> Server:
    """A game server with its first round in play."""
    server.opening_kill("home")
    return server


def test_a_round_in_play_may_be_silent_for_seconds_only(server: Server) -> None:
    last = server.match.last_arrived_at
    assert match_checks.play_phase(server.match) == "live"
    assert not match_checks.is_silent(server.match, last + CONFIG.silence_live_millis, CONFIG)
    assert match_checks.is_silent(server.match, last + CONFIG.silence_live_millis + 1, CONFIG)
    assert CONFIG.silence_live_millis < 10_000


def test_one_player_against_several_may_wait(server: Server) -> None:
    for victim in (1, 2, 3):
        server.kill("home", 0, victim)
    assert match_checks.play_phase(server.match) == "clutch"


def test_freeze_time_and_the_seconds_after_a_round_have_a_bound_of_their_own(server: Server) -> None:
    server.win("home")
    assert match_checks.play_phase(server.match) == "freeze"
    server.freeze()
    assert match_checks.play_phase(server.match) == "freeze"


def test_breaks_are_long(server: Server) -> None:
    assert match_checks.play_phase(server.match) == "live"
    server.report(f.Paused(at=server.later(), reason="timeout"))
    assert match_checks.play_phase(server.match) == "break"


def test_half_time_and_the_time_before_a_map_are_breaks() -> None:
    server = Server()
    assert match_checks.play_phase(server.match) == "break"
    server.start_map()
    assert match_checks.play_phase(server.match) == "break"
    server.rounds(*["home"] * 11)
    server.round("home")
    assert match_checks.play_phase(server.match) == "break"


def test_a_real_server_is_never_considered_lost(data: Path, real_log: str) -> None:
    """Not even when bodies come two seconds later than their timestamps."""
    log = data / "cs2-server-inferno.log.gz"
    lenient = IngestConfig(
        silence_millis=CONFIG.silence_millis - 2000,
        silence_live_millis=CONFIG.silence_live_millis - 2000,
        silence_clutch_millis=CONFIG.silence_clutch_millis - 2000,
        silence_freeze_millis=CONFIG.silence_freeze_millis - 2000,
    )
    found = list(silences(log, "rvls test team 1", "rvls test 2", lenient))
    assert sum(one.phase == "live" for one in found) > 200
    assert [one for one in found if one.priced and one.suspends] == []
