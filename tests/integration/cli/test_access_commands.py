"""Commands that take access away, give it back and change it."""

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli import main
from tests.support.command_line import Run, ok


@pytest.fixture
def run(run: Run) -> Callable[..., Any]:
    """What a command line prints, read as JSON; it must go well."""
    return lambda *words: ok(run(*words))


def test_access_is_taken_and_given_back(run: Callable[..., Any]) -> None:
    run("tenant", "create", "delta")
    key = run("key", "issue", "delta", "--bundle", "cs2.stats")["id"]
    assert not run("tenant", "revoke", "delta")["active"]
    assert run("tenant", "reactivate", "delta")["active"]
    assert not run("key", "revoke", key)["active"]
    assert run("key", "reactivate", key)["active"]
    done = [record["action"] for record in run("tenant", "audit", "delta")]
    assert done == [
        *("key.reactivate", "key.revoke", "tenant.activate", "tenant.deactivate"),
        *("key.issue", "tenant.create"),
    ]
    assert len(run("tenant", "audit", "delta", "--limit", "1")) == 1


def test_a_key_is_altered_in_what_is_given_only(run: Callable[..., Any]) -> None:
    run("tenant", "create", "delta")
    key = run("key", "issue", "delta", "--bundle", "cs2.stats", "--label", "web")["id"]
    altered = run("key", "alter", key, "--rpm", "7", "--network", "192.0.2.0/24")
    assert (altered["rate_limit_rpm"], altered["networks"], altered["label"]) == (7, ["192.0.2.0/24"], "web")
    altered = run("key", "alter", key, "--any-network", "--sport", "cs2", "--sport", "soccer")
    assert (altered["networks"], altered["sports"], altered["rate_limit_rpm"]) == ([], ["cs2", "soccer"], 7)


def test_what_a_tenant_receives_beside_the_odds_is_switched_on_and_off(run: Callable[..., Any]) -> None:
    run("tenant", "create", "delta")
    for command, field in (("probabilities", "probabilities"), ("bet-stop", "bet_stop")):
        assert run("tenant", command, "delta", "on").get(field) is True
        assert run("tenant", command, "delta", "off").get(field, False) is False


def test_market_types_are_switched_by_number(run: Callable[..., Any]) -> None:
    run("tenant", "create", "delta")
    before = run("tenant", "market-types", "delta")
    assert {each["on"] for each in before} == {True}
    off = run("tenant", "market-types", "delta", "off", "1", "13")
    assert [each["id"] for each in off if not each["on"]] == [1, 13]
    assert run("tenant", "market-types", "delta") == off
    on = run("tenant", "market-types", "delta", "on", "1")
    assert [each["id"] for each in on if not each["on"]] == [13]
    assert CliRunner().invoke(main, ["tenant", "market-types", "delta", "off"]).exit_code == 2
