"""Alerts on the command line."""

import asyncio
import re
from uuid import UUID

from app.settings import Settings
from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import open_store
from tests.support.command_line import Run

SINCE = 1_800_000_000_000


async def _raise_two(database_url: str, match_id: UUID) -> None:
    silent = AlertSubject(AlertKind.SILENT_SOURCE, match_id=match_id)
    async with await open_store(database_url, 1) as store, store.transaction() as tx:
        await alerts.begin(tx, silent, "nothing has come", SINCE)
        await alerts.end(tx, silent, SINCE + 1000)
        await alerts.begin(
            tx, AlertSubject(AlertKind.DEAD_PROCESS, subject="feed"), "no feed process is alive", SINCE
        )


def test_alerts_are_listed_newest_first(run: Run, settings: Settings) -> None:
    def printed(*words: str) -> str:
        result = run(*words)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert printed("alerts") == "no open alert\n"
    found = re.search(
        r'"id": "([^"]+)"', printed("match", "create", "Northwind", "Harbour", "--allow-unrated")
    )
    assert found
    asyncio.run(_raise_two(settings.database_url, UUID(found[1])))
    dead = "2 2027-01-15T08:00:00+00:00 dead_process feed: no feed process is alive\n"
    assert printed("alerts") == dead
    times = "2027-01-15T08:00:00+00:00 until 2027-01-15T08:00:01+00:00"
    silent = f"1 {times} silent_source od:match:1: nothing has come\n"
    assert printed("alerts", "--all") == dead + silent
    assert printed("alerts", "--all", "--match", "od:match:1") == silent


async def _raise(database_url: str, about: AlertSubject) -> int:
    async with await open_store(database_url, 1) as store, store.transaction() as tx:
        await alerts.begin(tx, about, "a batch", SINCE)
        (alert,) = await alerts.listing(tx)
    return alert.id


def test_an_alert_is_seen_taken_handed_back_and_ended(run: Run, settings: Settings) -> None:
    about = AlertSubject(AlertKind.TENANT_RIGHTS, tenant="acme", subject="queues")
    number = asyncio.run(_raise(settings.database_url, about))

    def printed(*words: str, fails: bool = False) -> str:
        result = run("alert", *words)
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    assert "(seen by cli:" in printed("see", str(number))
    assert "taken by cli:" in printed("take", str(number))
    assert "taken by" not in printed("hand-back", str(number))
    assert "Nobody has taken" in printed("hand-back", str(number), fails=True)
    assert "ended by cli:" in printed("end", str(number))
    assert "ended at" in printed("take", str(number), fails=True)
    assert "There is no alert 99" in printed("see", "99", fails=True)
