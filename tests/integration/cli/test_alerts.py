"""Alerts on the command line."""

import json
from uuid import UUID

from app.settings import Settings
from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.transaction import Tx
from tests.support.command_line import Run, in_transaction

SINCE = 1_800_000_000_000


async def _raise_two(tx: Tx, match_id: UUID) -> None:
    silent = AlertSubject(AlertKind.SILENT_SOURCE, match_id=match_id)
    dead = AlertSubject(AlertKind.DEAD_PROCESS, subject="feed")
    await alerts.begin(tx, silent, "nothing has come", SINCE)
    await alerts.end(tx, silent, SINCE + 1000)
    await alerts.begin(tx, dead, "no feed process is alive", SINCE)


def test_alerts_are_listed_newest_first(run: Run, settings: Settings) -> None:
    def printed(*words: str) -> str:
        result = run(*words)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert printed("alerts") == "no open alert\n"
    made = json.loads(printed("match", "create", "Northwind", "Harbour", "--allow-unrated"))
    in_transaction(settings, lambda tx: _raise_two(tx, UUID(made["id"])))
    dead = "2 2027-01-15T08:00:00+00:00 dead_process feed: no feed process is alive\n"
    assert printed("alerts") == dead
    times = "2027-01-15T08:00:00+00:00 until 2027-01-15T08:00:01+00:00"
    silent = f"1 {times} silent_source od:match:1: nothing has come\n"
    assert printed("alerts", "--all") == dead + silent
    assert printed("alerts", "--all", "--match", "od:match:1") == silent


def test_an_alert_is_seen_taken_handed_back_and_ended(run: Run, settings: Settings) -> None:
    about = AlertSubject(AlertKind.TENANT_RIGHTS, tenant="acme", subject="queues")
    in_transaction(settings, lambda tx: alerts.begin(tx, about, "a batch", SINCE))

    def printed(*words: str, fails: bool = False) -> str:
        result = run("alert", *words)
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    assert "(seen by cli:" in printed("see", "1")
    assert "taken by cli:" in printed("take", "1")
    assert "taken by" not in printed("hand-back", "1")
    assert "Nobody has taken" in printed("hand-back", "1", fails=True)
    assert "ended by cli:" in printed("end", "1")
    assert "ended at" in printed("take", "1", fails=True)
    assert "There is no alert 99" in printed("see", "99", fails=True)
