"""`matchfeed price`: the rounds, prices and results of any server's log, with nothing but the code."""

import csv
import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli import main
from app.kit.errors import BadRequest
from app.recompute.log_prices import LogPrices, PriceRequest, price_log
from app.sandbox.simulator.anomalies import LogLine
from app.sandbox.simulator.match_simulation import simulate
from app.sandbox.simulator.truth import SeriesTruth
from tests.conftest import ROOT
from tests.support import log_runs
from tests.support.simulated import plan_of

_EXAMPLE = re.compile(r"```\n\$ (matchfeed simulate --to .*)\n.*\n\$ (matchfeed price .*)\n((?s:.*?))```")


def run(*arguments: str, given: bytes | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=given)


def results(found: LogPrices) -> dict[str, str | None]:
    return {one.market: one.result for one in found.results}


@pytest.fixture(scope="module")
def simulated() -> tuple[list[LogLine], SeriesTruth]:
    """A simulated match in which the better team wins a map."""
    return simulate(plan_of(3, brief=True))


@pytest.fixture(scope="module")
def log(simulated: tuple[list[LogLine], SeriesTruth]) -> bytes:
    return "".join(f"{line.text}\n" for line in simulated[0]).encode()


@pytest.fixture(scope="module")
def found(log: bytes) -> LogPrices:
    return price_log(log, PriceRequest())


def beginning(log: bytes) -> bytes:
    """The first rounds of it, which are priced sooner."""
    return b"".join(log.splitlines(keepends=True)[:900])


def test_what_was_played_is_what_is_priced(
    found: LogPrices, simulated: tuple[list[LogLine], SeriesTruth]
) -> None:
    _, truth = simulated
    [played], [true] = found.maps, truth.maps
    assert {found.home, found.away} == {truth.home, truth.away}
    assert {played.home_score, played.away_score} == {true.home_score, true.away_score}
    assert [(one.round, one.reason) for one in found.rounds] == [(r.number, r.reason) for r in true.rounds]
    assert all(one.prices for one in found.rounds)
    assert results(found)[f"1:team={found.winner}"] == "won"


def test_prices_follow_ratings(log: bytes, found: LogPrices) -> None:
    stronger = price_log(log, PriceRequest(home_strength=1700, away_strength=1300))

    def home(prices: LogPrices) -> float:
        return next(one.probability for one in prices.rounds[0].prices if one.market == "1:team=home")

    assert 0.45 < home(found) < 0.55 < 0.7 < home(stronger)
    shared = results(found).keys() & results(stronger).keys()
    assert len(shared) > 100
    assert all(results(found)[key] == results(stronger)[key] for key in shared)


def test_the_three_forms_say_the_same(
    log: bytes, found: LogPrices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is priced once for all of them: a minute's work of the gate otherwise."""
    monkeypatch.setattr("app.cli.price_commands.price_log", lambda *_: found)
    path = tmp_path / "match.log.gz"
    path.write_bytes(gzip.compress(log))
    written = json.loads(run("price", str(path), "--format", "json").output)
    rows = list(csv.DictReader(io.StringIO(run("price", str(path), "--format", "csv").output)))
    prices = [
        (one["map"], one["round"], each["market"], each["odds"])
        for one in written["rounds"]
        for each in one["prices"]
    ]
    assert [
        (int(row["map"]), int(row["round"]), row["market"], float(row["odds"]))
        for row in rows
        if row["kind"] == "price"
    ] == prices
    assert [(row["market"], row["result"]) for row in rows if row["kind"] == "result"] == [
        (one["market"], one["result"]) for one in written["results"]
    ]
    table = run("price", "-", given=log).output
    for one in written["rounds"]:
        odds = {each["market"]: f"{each['odds']:.3f}" for each in one["prices"]}
        home = odds[f"13:map={one['map']}|round={one['round']}|team=home"]
        line = next(each for each in table.splitlines() if re.match(rf" +{one['round']} ", each))
        assert home in line
        assert f"{one['winner']}, {one['reason']}" in line


@pytest.mark.parametrize("arguments", [(), ("--home", "Ninjas", "--away", "Vikings")])
def test_a_log_without_team_names_says_who_is_who(log: bytes, arguments: tuple[str, ...]) -> None:
    nameless = re.sub(rb".*(Team playing|MatchStatus: Team).*\n", b"", beginning(log))
    table = run("price", "-", *arguments, given=nameless).output
    home = arguments[1] if arguments else "Team A"
    assert f"The log names no teams: {home} is the one that begins on the CT side." in table
    assert re.search(r"^ +1 +0:0 +CT ", table, re.M)


def test_every_way_a_server_writes_the_real_log_has_the_same_results(data: Path, real_log: str) -> None:
    runs = dict(log_runs.variants(data, real_log))
    found = {
        name: price_log("".join(runs[name]).encode("utf-8", "surrogateescape"), PriceRequest())
        for name in ("plain", "crash_round_then_restore", "restore_over_half", "no_game_over")
    }
    assert len(results(found["plain"])) > 500
    for name, one in found.items():
        assert len(one.rounds) == 15, name
        assert one.maps == found["plain"].maps, name
        assert results(one) == results(found["plain"]), name


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"", "No line begins with a time"),
        (b"hello\n", "give the file that a server writes with `log on`"),
        (b'L 01/19/2026 - 18:59:42: server_cvar: "a" "b"\n', "no round that counts"),
        (gzip.compress(b"L 01/19/2026 - 18:59:42: x\n")[:-9], "give a whole file"),
    ],
    ids=["empty", "no log", "no round", "cut"],
)
def test_what_is_no_log_is_refused_with_what_to_do(given: bytes, says: str) -> None:
    result = run("price", "-", given=given)
    assert result.exit_code == 1
    assert says in result.output
    assert result.output.count("\n") == 1


def test_teams_that_cannot_be_are_refused(log: bytes) -> None:
    assert "Give both teams" in run("price", "-", "--home", "A", given=log).output
    assert "give two names" in run("price", "-", "--home", "A", "--away", "a", given=log).output


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 900), st.binary(max_size=20)), max_size=5), st.integers(0, 900))
def test_damage_is_priced_or_refused(damage: list[tuple[int, bytes]], end: int) -> None:
    """Whatever a file holds, there is a result or one sentence."""
    lines = _LINES[:end]
    for place, piece in damage:
        lines[place:place] = [piece]
    said = outcome(b"\n".join(lines))
    assert said.rounds if isinstance(said, LogPrices) else said.endswith(".")


def outcome(log: bytes) -> LogPrices | str:
    """The prices of a log, or why it is refused."""
    try:
        return price_log(log, PriceRequest())
    except BadRequest as error:
        return error.detail


_LINES = [line.text.encode() for line in simulate(plan_of(5, brief=True))[0]][:900]


def environment() -> dict[str, str]:
    """Nothing but where our code is."""
    return {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}


def matchfeed(line: str, folder: Path) -> Any:
    command = [sys.executable, "-m", "app.cli", *line.split()[1:]]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)


def test_the_readme_shows_what_the_commands_print(tmp_path: Path) -> None:
    """In an environment without any setting, so that it needs none."""
    example = _EXAMPLE.search((ROOT / "README.md").read_text())
    assert example
    matchfeed(example[1], tmp_path)
    printed = matchfeed(example[2], tmp_path)
    assert printed.stderr == ""
    shown = example[3].rstrip("\n").split("\n…\n")
    assert len(shown) == 2  # rounds in the middle are left out
    assert printed.stdout.startswith(shown[0])
    assert printed.stdout.rstrip("\n").endswith(shown[1])
