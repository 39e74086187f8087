"""Operators' commands and the audit from the command line."""

import asyncio
import json
import re

import msgspec

from app.domain.market import Result
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.kit.clock import system_clock
from app.settings import Settings
from app.store import changes, matches
from app.store.changes import ChangeDraft
from app.store.connections import open_store
from app.store.transaction import Tx
from tests.support import logs
from tests.support.command_line import Run, in_transaction

MATCH = "od:match:1"


def test_orders_are_carried_out_and_on_record(run: Run) -> None:
    assert run("match", "create", "--allow-unrated", logs.HOME, logs.AWAY, "--best-of", "3").exit_code == 0
    award = ("match", "order", MATCH, "award_map", "winner=team_b", "request_id=one")
    for _ in range(2):
        assert re.fullmatch(rf"{MATCH} is upcoming 0:1, scheduled \S+\n", run(*award).stdout)
    wrong = run("match", "order", MATCH, "award_map", "winner=nobody")
    assert wrong.exit_code and "$.winner" in wrong.output
    award_record, creation = json.loads(run("match", "record", MATCH).stdout)
    assert (award_record["action"], award_record["details"]["winner"]) == ("match.award_map", "team_b")
    assert creation["action"] == "match.create" and creation["actor"].startswith("cli:")


def test_an_order_says_what_has_become_of_match_and_market(run: Run) -> None:
    assert run("match", "create", "--allow-unrated", logs.HOME, logs.AWAY).exit_code == 0
    moved = run("match", "order", MATCH, "schedule", "scheduled_at=4102444800000")
    assert moved.stdout == f"{MATCH} is upcoming 0:0, scheduled 2100-01-01T00:00:00+00:00\n"
    upcoming = moved.stdout
    winner = ("market_id=1", "specifiers=team=home", "reason=test")
    voided = run("match", "order", MATCH, "void_market", *winner)
    assert voided.stdout == upcoming + "market 1 team=home: void, reason 4\n"
    held = run("match", "order", MATCH, "roll_back_market", *winner)
    assert held.stdout.startswith(upcoming + "market 1 team=home: suspended: ")
    released = run("match", "order", MATCH, "roll_back_market", "release=true", *winner)
    assert re.fullmatch(re.escape(upcoming) + r"market 1 team=home: open @\d\.\d+\n", released.stdout)
    settled = run("match", "order", MATCH, "settle_market", "result=won", *winner)
    assert settled.stdout == upcoming + "market 1 team=home: settled: won\n"
    halted = run("match", "order", MATCH, "suspend", "reason=rain")
    assert halted.stdout == upcoming.rstrip() + ", suspended: rain\n"


def test_old_matches_are_forgotten_and_no_others(run: Run, settings: Settings) -> None:
    for number in range(1, 4):
        assert run("match", "create", "--allow-unrated", f"Home {number}", f"Away {number}").exit_code == 0
        if number < 3:
            assert run("match", "order", f"od:match:{number}", "cancel").exit_code == 0
    in_transaction(settings, lambda tx: _age(tx, days=5))
    assert run("match", "forget", "--older-than", "2").exit_code
    for gone in (1, 0):
        assert run("match", "forget", "--older-than", "4").stdout == f"{gone} matches removed\n"
    left = {each["urn"] for each in json.loads(run("match", "list").stdout)}
    assert left == {"od:match:2", "od:match:3"}


def test_the_audit_finds_what_the_facts_do_not_bear_out(run: Run, settings: Settings) -> None:
    assert run("match", "create", "--allow-unrated", logs.HOME, logs.AWAY).exit_code == 0
    asyncio.run(_play(settings))
    sound = run("audit", MATCH)
    assert sound.exit_code == 0, sound.output
    assert "0 differences" in sound.stdout and "0 ledger" not in sound.stdout
    in_transaction(settings, _falsify)
    false = run("audit", MATCH)
    assert false.exit_code and "map=1|round=1|team=home" in false.stdout


async def _play(settings: Settings) -> None:
    lines = (*logs.kick_off(), *logs.live(), *logs.ct_win(1, 0), *logs.freeze(1, 0))
    async with await open_store(settings.database_url, 2) as store:
        async with store.autocommit() as tx:
            match = await matches.by_ref(tx, MATCH)
        now = system_clock()
        for second, group in enumerate((lines[:5], lines[5:6], lines[6:])):
            body = logs.body(*group, second=second)
            batch = Batch(id=str(second), match_id=match.id, number=1, arrived_at=now + second, body=body)
            await apply_batch(store, batch, now + second, IngestConfig())


async def _age(tx: Tx, days: int) -> None:
    """As if the match had ended so many days earlier."""
    match = await matches.by_ref(tx, MATCH)
    assert match.finished_at is not None
    ended = match.finished_at - days * 86_400_000
    await tx.write([matches.save_statement(msgspec.structs.replace(match, finished_at=ended))])


async def _falsify(tx: Tx) -> None:
    """A settlement in the engine's name that the facts speak against."""
    entry = LedgerEntry(
        13, "map=1|round=1|team=home", LedgerStatus.SETTLED, LedgerStatus.PENDING, None, "taken back"
    )
    lost = msgspec.structs.replace(
        entry, previous_status=LedgerStatus.PENDING, new_status=LedgerStatus.SETTLED, result=Result.LOST
    )
    drafts = [ChangeDraft("settlement", "k", "", one.message, entry=one) for one in (entry, lost)]
    await changes.append(tx, await matches.by_ref(tx, MATCH), drafts, system_clock())
