"""Making, keeping and deleting daily files: on the command line, each day, and after a run that broke off."""

import asyncio
import hashlib
import json
import os
import sys
from datetime import date, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from app.domain.daily_files import FileFormat, FileKind, last_complete_day
from app.files import daily, formats, making
from app.files.directory import FileDirectory
from app.kit.clock import system_clock
from app.kit.errors import Conflict
from app.settings import Settings
from app.store.connections import Store
from tests.integration.files.conftest import DAY, LATER, MIDNIGHT, NEXT, Make
from tests.support.command_line import Run, set_environment
from tests.support.story import Story, offer
from tests.support.web import IssueKey


@pytest.fixture
async def happened(story: Story, issue: IssueKey) -> None:
    """A tenant with a key, and something that it may know."""
    await issue(bundles=("cs2.odds.basic",))
    await story.match(offer(1), offer(2))


def stored(directory: FileDirectory) -> set[str]:
    """What lies in the directory, folders aside."""
    return {str(path.relative_to(directory.path)) for path in directory.path.rglob("*") if path.is_file()}


def listed(directory: FileDirectory, *days: date) -> set[str]:
    """What the manifests of these days list, and what belongs to each directory."""
    found = {".lock"}
    for day in days:
        manifest = directory.manifest(day)
        assert manifest
        found |= {f"{day}/manifest.json", *(f"{day}/{one.stored_name}" for one in manifest.files)}
    return found


async def test_what_is_missing_is_made_and_what_is_too_old_deleted(
    store: Store, directory: FileDirectory, happened: None
) -> None:
    now = MIDNIGHT + 3_600_000

    async def missing(days: int) -> list[date]:
        return [each.day for each in await making.make_missing(store, directory, days, lambda: now)]

    assert await missing(3) == [DAY]
    assert await missing(3) == [DAY], "it is looked at again, for tenants that are new"
    now += 2 * 86_400_000
    assert await missing(3) == [NEXT, NEXT + timedelta(days=1)]
    assert directory.days() == [NEXT + timedelta(days=1), NEXT, DAY]
    now += 10 * 86_400_000
    newest = last_complete_day(now)
    assert await missing(2) == [newest - timedelta(days=1), newest]
    assert stored(directory) == listed(directory, newest - timedelta(days=1), newest)


async def test_a_day_that_is_not_complete_is_refused(store: Store, directory: FileDirectory) -> None:
    quarter = 15 * 60_000
    with pytest.raises(Conflict, match="is not complete yet"):
        await making.make_day(store, directory, DAY, lambda: MIDNIGHT + quarter - 1)
    assert directory.days() == []
    await making.make_day(store, directory, DAY, lambda: MIDNIGHT + quarter)
    assert directory.days() == [DAY]


async def test_a_run_that_breaks_off_leaves_nothing_half(
    store: Store, directory: FileDirectory, happened: None, make: Make
) -> None:
    """It fails at the third file, and when a file is complete and not listed yet."""
    await make(DAY)
    whole = {path: (directory.path / path).read_bytes() for path in stored(directory)}
    for broken in ("app.files.making.sha256_of", "app.files.directory.FileDirectory.save"):
        (directory.path / str(DAY) / "manifest.json").unlink()
        with (
            patch(broken, side_effect=OSError(28, "No space left on device")),
            pytest.raises(OSError, match="space"),
        ):
            await make(DAY)
        assert directory.days() == [] and directory.manifest(DAY) is None
        await make(DAY)
        assert {path: (directory.path / path).read_bytes() for path in stored(directory)} == whole


async def test_a_file_that_is_lost_is_made_again(
    directory: FileDirectory, happened: None, make: Make
) -> None:
    """One is gone and one is half there, as after a crash of the machine."""
    await make(DAY)
    folder = directory.path / str(DAY)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    gone, half = folder.glob("*.parquet"), folder.glob("*.csv.gz")
    next(gone).unlink()
    os.truncate(next(half), 10)
    [again] = await make(DAY)
    assert (len(again.made), again.files) == (2, 8)
    assert {path.name: len(path.read_bytes()) for path in folder.iterdir()}.keys() == whole.keys()
    assert {each.sha256 for each in again.made} <= {
        hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
    }
    [more] = await make(DAY)
    assert (more.made, more.files) == ((), 8)


async def test_what_is_too_old_makes_room_on_a_disk_that_is_full(
    store: Store, directory: FileDirectory, happened: None, make: Make
) -> None:
    await make(DAY)
    left = directory.path / str(DAY - timedelta(days=1))
    left.mkdir()
    (left / "prices-0.parquet").write_bytes(b"of a run that broke off before the day was listed")
    full = OSError(28, "No space left on device")
    now = MIDNIGHT + 10 * 86_400_000
    with patch("app.files.making._write", side_effect=full), pytest.raises(OSError, match="space"):
        await making.make_missing(store, directory, 3, lambda: now)
    assert not left.exists() and directory.days() == []


async def test_one_process_at_a_time(directory: FileDirectory, make: Make) -> None:
    other = FileDirectory(directory.path)
    with other.lock(), pytest.raises(Conflict, match="Another process"):
        await make(DAY)
    assert await make(DAY)


async def test_without_pyarrow_there_is_csv_and_later_the_rest(
    directory: FileDirectory, happened: None, make: Make
) -> None:
    with patch.object(formats, "pyarrow", None):
        (only,) = await make(DAY)
    assert {one.form for one in only.made} == {FileFormat.CSV}
    (rest,) = await make(DAY)
    assert {one.form for one in rest.made} == {FileFormat.PARQUET}
    manifest = directory.manifest(DAY)
    assert manifest and len(manifest.files) == 2 * len(FileKind)


async def test_files_are_written_a_group_of_rows_at_a_time(
    directory: FileDirectory, story: Story, issue: IssueKey, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    await issue(bundles=("cs2.odds.basic",))
    for _ in range(3):
        await story.match(*[offer(number) for number in range(1, 16)])
    written: list[int] = []
    write = formats.CsvWriter.write
    monkeypatch.setattr(
        formats.CsvWriter, "write", lambda self, rows: (written.append(len(rows)), write(self, rows))
    )
    monkeypatch.setattr(making, "GROUP_ROWS", 20)
    (made,) = await make(DAY)
    assert written == [20, 20, 5]
    assert {one.rows for one in made.made if one.kind is FileKind.PRICES} == {45}


def test_the_command_line(run: Run, settings: Settings, directory: FileDirectory) -> None:
    day = last_complete_day(system_clock())
    assert run("files", "list").output == "no files: make some (matchfeed files make)\n"
    with patch("os.nice"):
        made = run("files", "make")
        assert (made.exit_code, made.stdout) == (0, f"{day}: 0 files made, 0 there\n")
        assert run("files", "make", "--day", "2023-11-14").exit_code == 0
        refused = run("files", "make", "--day", str(day + timedelta(days=1)))
    assert refused.exit_code == 1 and "is not complete yet" in refused.output
    assert [line.partition(":")[0] for line in run("files", "list").output.splitlines()] == [
        str(day),
        "2023-11-14",
    ]
    with directory.lock():
        assert "Another process" in run("files", "prune").output
    assert run("files", "prune").output == "2023-11-14: deleted\n"
    assert run("files", "prune", "--before", "2100-01-01").output == f"{day}: deleted\n"


def test_the_command_line_without_a_directory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES_DIRECTORY", "")
    for words in (("make",), ("list",), ("prune",)):
        refused = run("files", *words)
        assert refused.exit_code == 1 and "set FILES_DIRECTORY" in refused.output


async def test_a_web_process_has_the_last_day_made(
    settings: Settings,
    directory: FileDirectory,
    happened: None,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """By the real command, in a process of its own, whose log is the web process's; and not again once the
    files are there."""
    set_environment(monkeypatch, settings)
    capfd.readouterr()
    await daily.make_if_due(directory, system_clock)
    assert directory.days() == [last_complete_day(system_clock())]
    logged = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert "files made" in {each["event"] for each in logged}
    await daily.make_if_due(directory, system_clock, command=("/no/such/command",))


async def test_what_a_web_process_has_started_ends_with_it(directory: FileDirectory, tmp_path: Path) -> None:
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    program = f"import os, time; open({str(fifo)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    task = asyncio.create_task(
        daily.make_if_due(directory, lambda: LATER, command=(sys.executable, "-c", program))
    )
    pid = int(await asyncio.to_thread(fifo.read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
