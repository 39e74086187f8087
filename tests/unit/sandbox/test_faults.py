"""The fault menu: it works on a demo only, and says "healed" when that is true."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import main
from app.sandbox.demonstration import (
    BookCheck,
    BookmakerReport,
    DemoUnavailable,
    ReportedRecovery,
    RunningDemo,
    StoryLine,
)
from app.sandbox.faults import FAULTS, DemoFault, FaultTarget
from app.sandbox.healing import is_healed
from scripts.demonstration import report as reports

BEGAN, MENDED = 1_000, 5_000


async def nothing(target: FaultTarget) -> None: ...


def report(**fields: object) -> BookmakerReport:
    """A bookmaker that has recovered and found its book equal."""
    healed = {
        "state": "following",
        "active": 3,
        "story": (StoryLine(1, BEGAN + 1, "gap", "a message never came"),),
        "recovery": ReportedRecovery("1", "completed", BEGAN + 2, 1, 1, 1, MENDED + 1),
        "check": BookCheck(MENDED + 2, 0, 3, 1),
    }
    return BookmakerReport(**{**healed, **fields})  # type: ignore[arg-type]


LOST = DemoFault(nothing, "", recovers=True, shows="gap")


@pytest.mark.parametrize("fault", ["delay", "drop", "duplicate", "reorder"])
def test_the_bookmaker_is_not_waited_for_when_it_is_another_tenants_fault(fault: str) -> None:
    unseen = report(story=(), recovery=None)
    assert is_healed(unseen, FAULTS[fault].seen_by_bookmaker("acme"), BEGAN, MENDED)
    own = FAULTS[fault].seen_by_bookmaker("board")
    assert own is FAULTS[fault]


def test_a_recovered_equal_book_is_healed() -> None:
    assert is_healed(report(), LOST, BEGAN, MENDED)


@pytest.mark.parametrize(
    "unhealed",
    [
        report(state="recovering"),
        report(check=None),
        report(check=BookCheck(MENDED + 2, 1, 3, 1)),
        report(check=BookCheck(MENDED, 0, 3, 1)),
        report(
            check=BookCheck(MENDED + 1, 0, 3, 1),
            recovery=ReportedRecovery("1", "completed", BEGAN, 1, 1, 1, MENDED + 2),
        ),
        report(recovery=None),
        report(recovery=ReportedRecovery("1", "completed", BEGAN - 1, 1, 1, 1, BEGAN)),
        report(recovery=ReportedRecovery("1", "running", BEGAN + 2, 1, 0, 0, None)),
        report(story=()),
        report(story=(StoryLine(1, BEGAN - 1, "gap", "long ago"),)),
    ],
)
def test_anything_less_is_not(unhealed: BookmakerReport) -> None:
    assert not is_healed(unhealed, LOST, BEGAN, MENDED)


@pytest.mark.parametrize("name", FAULTS)
def test_it_is_refused_where_there_is_no_demo(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MATCHFEED_DEMO", raising=False)
    done = CliRunner().invoke(main, ["fault", name])
    assert done.exit_code == 1
    assert done.output.startswith("Error: this breaks things on purpose, so it works on a demo only")
    monkeypatch.setenv("MATCHFEED_DEMO", str(tmp_path))
    done = CliRunner().invoke(main, ["fault", name])
    assert (done.exit_code, "no demo runs in" in done.output) == (1, True)


def test_a_process_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    """A pid of the record may belong to somebody else by now: here, to this test."""
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo.json").write_text("{}")
    children = {"feed": {"name": "feed", "pid": 1}}
    (tmp_path / "demo" / "record.json").write_text(json.dumps({"children": children}))
    with pytest.raises(DemoUnavailable, match="not running at this moment"):
        RunningDemo({"MATCHFEED_DEMO": str(tmp_path)}).kill("feed", seconds=1)


def test_the_command_reads_what_the_bookmaker_writes(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo.json").write_text("{}")
    written = reports.Report("board", state="following", active=2)
    written.recovery = reports.Recovery("7", "running", 1)
    written.check = reports.Check(1, 0, 2, 1, {})
    written.story = [reports.Line(1, 1, "equal", "book equals REST")]
    reports.write(tmp_path / "demo" / "bookmaker.json", written)
    read = RunningDemo({"MATCHFEED_DEMO": str(tmp_path)}).report()
    assert read and (read.active, read.story[0].kind) == (2, "equal")
    assert read.recovery and read.recovery.state == "running"
    assert read.check and read.check.count == 0
