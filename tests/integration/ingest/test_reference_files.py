"""Files of reference data in a folder: read once, when complete, by one process at a time."""

import asyncio
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from app.domain.reference_reports import ImportReport
from app.ingest import reference_files, worker
from app.ingest.log_update import IngestConfig
from app.ingest.reference_files import ReferenceFolder
from app.settings import Settings
from app.store import reference_imports
from app.store.alerts import AlertKind
from app.store.connections import Store
from app.store.exclusive import REFERENCE_FILES, exclusive
from app.trading.pricing import PricingConfig
from tests.integration.ingest.conftest import NOW
from tests.support import stored
from tests.support.eventually import eventually
from tests.support.queues import private_vhost, queues_of

FIXTURE: dict[str, Any] = {
    "kind": "fixture",
    "id": "f-1",
    "team_a": "Copper Owls",
    "team_b": "Dune Larks",
    "event": "Norland Masters",
    "scheduled_at": NOW + 3_600_000,
}


def document(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"source": "acme", "rows": rows}).encode()


@pytest.fixture
def folder(store: Store, tmp_path: Path) -> ReferenceFolder:
    return another(store, tmp_path)


def another(store: Store, tmp_path: Path) -> ReferenceFolder:
    """The folder as a process that has just started knows it."""
    return ReferenceFolder(store, tmp_path, PricingConfig(), lambda: NOW)


async def looks(folder: ReferenceFolder, times: int = 2) -> list[ImportReport]:
    """All that is imported at so many looks."""
    return [report for _ in range(times) for report in await folder.look()]


async def open_alerts(store: Store) -> dict[str, str]:
    found = await stored.open_alerts(store, AlertKind.REFERENCE_REFUSED)
    return {alert.subject: alert.detail for alert in found}


async def test_a_complete_file_is_imported_once(
    store: Store, folder: ReferenceFolder, tmp_path: Path
) -> None:
    file = tmp_path / "acme.json"
    file.write_bytes(document(FIXTURE))
    assert await folder.look() == []  # it may still be written
    [report] = await folder.look()
    assert [one.action for one in report.fixtures] == ["created"]
    assert (report.name, report.by) == ("acme.json", "file:acme.json")
    assert await looks(folder) == []
    assert await looks(another(store, tmp_path)) == []
    os.utime(file, ns=(1, 1))
    assert await looks(folder) == []  # the same bytes
    file.write_bytes(document(FIXTURE | {"scheduled_at": NOW + 7_200_000}))
    [changed] = await looks(folder)
    assert [one.fields for one in changed.fixtures] == [("scheduled_at",)]
    assert file.exists() and await open_alerts(store) == {}


async def test_a_file_that_grows_waits(folder: ReferenceFolder, tmp_path: Path) -> None:
    whole = document(FIXTURE)
    file = tmp_path / "acme.json"
    for end in (10, 40, len(whole)):
        file.write_bytes(whole[:end])
        assert await folder.look() == []
    [report] = await folder.look()
    assert report.refused == ()


async def test_names_that_are_not_ours_are_passed_over(folder: ReferenceFolder, tmp_path: Path) -> None:
    for name in (".acme.json", "acme.json.tmp", "notes.txt"):
        (tmp_path / name).write_bytes(document(FIXTURE))
    (tmp_path / "old.json").mkdir()
    assert await looks(folder, 3) == []
    (tmp_path / "acme.json.tmp").rename(tmp_path / "acme.json")
    assert len(await looks(folder)) == 1


async def test_a_name_that_is_no_text_holds_up_no_other_file(
    store: Store, folder: ReferenceFolder, tmp_path: Path
) -> None:
    for age, name in enumerate((b"a\xff.json", b"b.json")):
        path = tmp_path / os.fsdecode(name)
        path.write_bytes(document(FIXTURE | {"id": f"f-{age}", "bo_type": "bo3" if age else "bo2"}))
        os.utime(path, ns=(age, age))
    assert [one.name for one in await looks(folder, 4)] == ["a\ufffd.json", "b.json"]
    assert list(await open_alerts(store)) == ["a\ufffd.json"]


async def test_the_oldest_file_is_first(folder: ReferenceFolder, tmp_path: Path) -> None:
    for age, name in enumerate(("b.csv", "a.jsonl.gz", "c.json")):
        row = FIXTURE | {"source": "acme", "scheduled_at": NOW + 3_600_000 + age}
        text = ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n"
        body = {"b.csv": text.encode(), "c.json": document(row)}.get(name)
        path = tmp_path / name
        path.write_bytes(body or gzip.compress(json.dumps(row).encode()))
        os.utime(path, ns=(age, age))
    reports = await looks(folder)
    assert [(one.name, [change.action for change in one.fixtures]) for one in reports] == [
        ("b.csv", ["created"]),
        ("a.jsonl.gz", ["changed"]),
        ("c.json", ["changed"]),
    ]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a.json", b"{"),
        ("a.json", b"[]"),
        ("a.json", b'{"matches": 3}'),
        ("a.json", b'{"name": "Cup 2030/31", "matches": [{"team1": "A", "team2": "A"}]}'),
        ("a.json", document(FIXTURE | {"team_b": ""})),
        ("a.json", b'{"a\\u0000b": 1}'),
        ("a.json.gz", b"no gzip"),
        ("a.jsonl", b"{}\n\xff\n"),
        ("a.csv", b"id,team\n1,2\n"),
        ("a.csv", b"\xff\xfe"),
        ("a.csv", b"kind,name\nteam,a,b\n"),
    ],
)
async def test_a_file_that_fails_is_reported_and_not_tried_again(
    store: Store, folder: ReferenceFolder, tmp_path: Path, name: str, body: bytes
) -> None:
    (tmp_path / name).write_bytes(body)
    [report] = await looks(folder, 4)
    assert report.refused
    [(subject, detail)] = (await open_alerts(store)).items()
    assert subject == name and str(report.id) in detail
    assert await looks(another(store, tmp_path)) == []
    async with store.autocommit() as tx:
        assert await reference_imports.reports(tx, limit=10) == [report]


async def test_a_file_without_refusals_ends_the_alert(
    store: Store, folder: ReferenceFolder, tmp_path: Path
) -> None:
    file = tmp_path / "acme.json"
    file.write_bytes(document(FIXTURE | {"bo_type": "bo2"}))
    await looks(folder)
    assert "row 1 bo_type" in (await open_alerts(store))["acme.json"]
    file.write_bytes(document(FIXTURE))
    await looks(folder)
    assert await open_alerts(store) == {}


async def test_a_folder_that_cannot_be_read_is_an_alert(store: Store, tmp_path: Path) -> None:
    missing = tmp_path / "later"
    folder = another(store, missing)
    assert await looks(folder) == []
    assert list(await open_alerts(store)) == [str(missing)]
    missing.mkdir()
    await looks(folder)
    assert await open_alerts(store) == {}


async def test_a_file_that_goes_while_the_folder_is_read_is_no_fault_of_the_folder(
    store: Store, folder: ReferenceFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme.json").write_bytes(document(FIXTURE))
    (tmp_path / "gone.json").symlink_to(tmp_path / "nothing")
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    assert [one.name for one in await looks(folder)] == ["acme.json"]
    assert await open_alerts(store) == {}


async def test_one_process_at_a_time_imports(store: Store, folder: ReferenceFolder, tmp_path: Path) -> None:
    (tmp_path / "acme.json").write_bytes(document(FIXTURE))
    async with exclusive(store, REFERENCE_FILES) as mine:
        assert mine
        assert await looks(folder) == []
    others = [folder, *(another(store, tmp_path) for _ in range(3))]
    at_once = await asyncio.gather(*(one.look() for one in others))
    later = [await looks(one) for one in others]
    assert sum(map(len, [*at_once, *later])) == 1


async def test_an_ingest_process_watches_the_folder(
    store: Store, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_files, "_EVERY_SECONDS", 0.02)
    (tmp_path / "acme.json").write_bytes(document(FIXTURE))

    async def reports() -> list[ImportReport]:
        async with store.autocommit() as tx:
            return await reference_imports.reports(tx, limit=10)

    config, stopping = IngestConfig(reference_directory=str(tmp_path)), asyncio.Event()
    async with private_vhost(settings) as private:
        running = asyncio.create_task(worker.run(store, queues_of(private), config, stopping, lambda: NOW))
        [report] = await eventually(reports, bool)
        stopping.set()
        await running
    assert [one.action for one in report.fixtures] == ["created"]
