"""The commands against a real database and broker, as a user at a terminal sees them."""

import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import main
from scripts.demonstration.shared_servers import TENANTS
from scripts.services import Services
from tests.support import services as support
from tests.support.command_line import Run, ok


def test_a_tenant_and_its_keys(run: Run) -> None:
    assert ok(run("tenant", "create", "delta", "--name", "Delta Bets"))["slug"] == "delta"
    assert [tenant["name"] for tenant in ok(run("tenant", "list"))] == ["Delta Bets"]
    first = ok(run("key", "issue", "delta", "--bundle", "cs2.odds.basic", "--rpm", "100", "--label", "web"))
    assert first["api_key"].startswith("mfk_")
    assert first["rate_limit_rpm"] == 100
    second = ok(run("key", "rotate", first["id"]))
    assert second["api_key"] != first["api_key"]
    assert not ok(run("key", "revoke", second["id"]))["active"]
    listed = ok(run("key", "list", "delta"))
    assert {key["id"]: key["active"] for key in listed} == {first["id"]: False, second["id"]: False}
    assert "api_key" not in listed[0]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("key", "list", "nobody"), "nobody"),
        (("book", "nobody", "od:match:1"), "nobody"),
        (("tenant", "create", "No Slug!"), "slug"),
        (("match", "send-log", __file__, "--match", "od:match:77"), "od:match:77"),
    ],
)
def test_failures_are_one_clear_line(run: Run, words: tuple[str, ...], line: str) -> None:
    result = run(*words)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert line in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_service_that_is_away_is_one_clear_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres@127.0.0.1:9/matchfeed")
    result = run("tenant", "list")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_matches_and_bookings(run: Run) -> None:
    made = ok(run("match", "create", "Copper Herons", "Tin Comets", "--best-of", "3", "--in", "30"))
    assert (made["urn"], made["status"], made["best_of"]) == ("od:match:1", "upcoming", 3)
    assert made["suspended"] == "no rating of team_a and team_b"
    rated = run("match", "order", "od:match:1", "rate", "strength_a=1650", "strength_b=1600")
    assert "is upcoming" in rated.stdout
    assert ok(run("match", "list"))[0]["suspended"] == ""
    assert f"/ops/v1/matches/{made['id']}/log?token=1-" in made["log_sink_url"]
    assert [match["id"] for match in ok(run("match", "list"))] == [made["id"]]
    assert ok(run("match", "list", "--status", "live")) == []
    ok(run("tenant", "create", "delta"))
    assert "is not booked" in run("unbook", "delta", "od:match:1").stdout
    assert "it was so already" in run("unbook", "delta", made["id"]).stdout
    assert "is booked" in run("book", "delta", made["id"]).stdout


def test_migrate_again_changes_nothing(run: Run) -> None:
    assert run("migrate").stdout == "the database is up to date\n"


@pytest.fixture
async def withdrawn(services: Services) -> AsyncIterator[None]:
    async with support.withdrawn(services, *TENANTS):
        yield


@pytest.mark.usefixtures("withdrawn")
def test_demo_tenants(run: Run, tmp_path: Path) -> None:
    """The five tenants as the demo describes them; a second run leaves one working key each."""
    output = tmp_path / "tenants.json"
    assert run("demo-tenants", "--output", str(output)).exit_code == 0
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    first = json.loads(output.read_text())
    tenants = {row["slug"]: row for row in first["tenants"]}
    assert list(tenants) == ["acme", "beta", "statsco", "scoreline", "newco"]
    assert tenants["acme"]["bundles"] == ["cs2.odds.basic", "cs2.odds.scoreboard-addon"]
    assert tenants["acme"]["sport_allowlist"] == ["cs2", "soccer"]
    assert [slug for slug, row in tenants.items() if row["amqp_url"]] == ["acme", "beta"]
    assert tenants["acme"]["amqp_url"].startswith("amqp://op-acme:")
    again = ok(run("demo-tenants"))
    assert again["operator_key"] != first["operator_key"]
    assert [key["active"] for key in ok(run("key", "list", "acme"))].count(True) == 1


@pytest.mark.parametrize("words", [(), ("tenant",), ("key",), ("match",), ("simulate",), ("serve",)])
def test_every_command_has_help(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, [*words, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output
