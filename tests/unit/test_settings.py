"""Which settings are accepted, and which stop a process with a line that has the remedy."""

import pytest
from click.testing import CliRunner

from app.cli import main
from app.settings import DEVELOPMENT_SECRET, TIERS, is_local, liquidity, load

OWN = "a secret of our own, long enough for anybody"


def test_a_developer_needs_to_set_nothing() -> None:
    assert load({}).secret_key == DEVELOPMENT_SECRET


@pytest.mark.parametrize(
    "variables",
    [
        {"DEPLOYMENT": "production"},
        {"PUBLIC_URL": "https://feed.example.com"},
        {"PUBLIC_URL": "http://192.0.2.7:8000"},
        {"PUBLIC_URL": "nonsense"},
        {"DEPLOYMENT": "production", "SECRET_KEY": DEVELOPMENT_SECRET},
    ],
)
def test_production_refuses_the_secret_that_everybody_knows(variables: dict[str, str]) -> None:
    with pytest.raises(SystemExit, match="SECRET_KEY is the one that everybody knows") as refused:
        load(variables)
    assert "\n" not in str(refused.value)
    assert load(variables | {"SECRET_KEY": OWN}).secret_key == OWN


@pytest.mark.parametrize("option", ["--host", "--sdk-host"])
def test_a_web_process_for_others_refuses_it_too(monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setenv("SDK_PORT", "8443")
    done = CliRunner().invoke(main, ["serve", option, "0.0.0.0"])
    assert done.exit_code == 1
    assert done.output == "Error: others can reach 0.0.0.0: set SECRET_KEY to one that only you know\n"


def test_production_needs_a_listener_for_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"DEPLOYMENT": "production", "SECRET_KEY": OWN}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("OPERATOR_PORT", raising=False)
    done = CliRunner().invoke(main, ["serve"])
    assert done.exit_code == 1
    assert "set OPERATOR_PORT" in done.output and done.output.count("\n") == 1


def test_nobody_is_a_trusted_proxy_unless_named() -> None:
    assert load({}).trusted_proxies == ""


def test_defaults_are_the_specifications() -> None:
    defaults = load({})
    assert defaults.recovery_window_minutes == 4320
    assert defaults.alive_seconds == 10
    assert (defaults.stream_poll_all_millis, defaults.stream_poll_match_millis) == (5000, 2000)
    assert (defaults.cs2_category_icon_url, defaults.producer_id) == ("", 2)


@pytest.mark.parametrize(
    "variables",
    [{"DEPLOYMENT": "prod"}, {"SECRET_KEY": "short"}, {"MARGIN": "0.9"}]
    + [{"TRUSTED_PROXIES": "*"}, {"TRUSTED_PROXIES": "10.0.0.1/8"}, {"OPERATOR_PORT": "70000"}]
    + [{"SDK_CERTIFICATE_FILE": "a.pem"}, {"SDK_PRIVATE_KEY_FILE": "a.key"}]
    + [{"SDK_PORT": "8001", "OPERATOR_PORT": "8001"}],
)
def test_a_value_that_does_not_fit_is_named(variables: dict[str, str]) -> None:
    with pytest.raises(SystemExit, match=next(iter(variables))):
        load(variables)


@pytest.mark.parametrize(
    ("host", "local"),
    [("localhost", True), ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("0.0.0.0", False)]
    + [("example.com", False), ("", False)],
)
def test_which_hosts_are_this_machine(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_each_tier_has_its_liquidity() -> None:
    found = liquidity(load({}).liquidity_by_tier)
    assert list(found) == list(TIERS) and found["S"] == 1000
    assert liquidity(" other:0, S:1e6,A:2.5,B:1,C:1,D:1")["A"] == 2.5


@pytest.mark.parametrize(
    "listed",
    [
        "",
        "S:1000",
        "S:1,A:1,B:1,C:1,D:1,other:1,S:2",
        "S:1,A:1,B:1,C:1,D:1,E:1",
        "S:-1,A:1,B:1,C:1,D:1,other:1",
        "S:nan,A:1,B:1,C:1,D:1,other:1",
        "S:inf,A:1,B:1,C:1,D:1,other:1",
        "S:much,A:1,B:1,C:1,D:1,other:1",
    ],
)
def test_a_wrong_liquidity_is_refused_with_the_form(listed: str) -> None:
    with pytest.raises(SystemExit, match="LIQUIDITY_BY_TIER lists an amount for each tier, like S:1000"):
        load({"LIQUIDITY_BY_TIER": listed})
