"""Matches that were played into a database are computed again from their files, bit for bit; what differs is
found."""

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from app.access.feed_selection import set_booked
from app.commands.command_service import CommandService
from app.commands.execution import Sender
from app.commands.match_commands import UpholdClaim
from app.commands.match_export import MatchExport, NoExport, export_match, read_export, write_export
from app.commands.match_inputs import Commanded, Given, Lines
from app.domain.market import Result
from app.domain.match import Match, Status
from app.ingest.log_update import IngestConfig
from app.recompute.recomputation import Difference, MissingInputs, recompute
from app.store import changes, history
from app.store.connections import Store
from app.trading import coefficients
from scripts.lab.traded_match import TradedMatch
from tests.support import stored
from tests.support.claims import claimed
from tests.support.clocks import ManualClock
from tests.support.recomputing import recompute_file
from tests.support.web import Headers, issuing

SEED = 3  # a short map with crashes, lost lines, silence and commands


async def exported(store: Store, match: Match) -> MatchExport:
    return read_export(await export_match(store, str(match.id), 1))


async def test_a_traded_match_is_computed_again_bit_for_bit(store: Store) -> None:
    found = await TradedMatch(store, SEED, IngestConfig()).play()
    match = found.match
    assert match.status is Status.FINISHED
    assert found.commands > 5
    export = await exported(store, match)
    assert {type(one.cause) for one in export.inputs} >= {Lines, Commanded, Given}
    again = recompute(export)
    assert again.problem is None
    assert again.transactions == len(export.inputs)
    assert again.rows == len(export.rows)
    assert again.entries == len(export.ledger) > 100
    await check_pruned(store, export)
    await check_altered(export)
    await check_without_inputs(export)


async def test_a_match_with_a_claim_is_computed_again_bit_for_bit(store: Store, basic: Headers) -> None:
    """The result that a claim contests is corrected by a command; the claim's own rows are its tenant's."""
    found = await TradedMatch(store, SEED, IngestConfig()).play()
    async with store.autocommit() as tx:
        ledger = await history.ledger(tx, found.match.id)
    entry = [one for one in ledger if one.result is Result.WON and one.void_window is None][-1]
    book = await stored.book(store, found.match)
    clock = ManualClock(ledger[-1].at + 1_000)
    claim = await claimed(store, found.match, book[entry.key], clock)
    for result in ("lost", "void"):
        if result == "void":
            claim = await claimed(store, found.match, book[entry.key], clock, expected=Result.VOID)
        clock.now += 1_000
        uphold = UpholdClaim(
            claim=claim.id,
            market_id=entry.type_id,
            specifiers=entry.specifiers,
            result=result,
            reason="away won it",
            answer="only for acme",
        )
        service = CommandService(store, IngestConfig().pricing)
        await service.send(str(found.match.id), uphold, Sender("house", "house"), clock.now)
    export = await exported(store, found.match)
    again = recompute(export)
    assert again.problem is None
    assert (again.transactions, again.rows) == (len(export.inputs), len(export.rows))
    assert not [row for row in export.rows if row.entity == changes.CLAIM]
    written = gzip.decompress(write_export(export))
    assert b"only for acme" not in written and str(claim.id).encode() not in written


async def check_pruned(store: Store, export: MatchExport) -> None:
    """What has left the change log is compared, too; without it, it says so."""
    async with store.transaction() as tx:
        while await changes.prune(tx, export.rows[-1].at - 1):
            pass
    kept = read_export(await export_match(store, str(export.match_id), 1))
    assert recompute(kept).problem is None
    async with store.transaction() as tx:
        await tx.execute("DELETE FROM kept_change WHERE match_id = $1", export.match_id)
    deleted = read_export(await export_match(store, str(export.match_id), 1))
    problem = recompute(deleted).problem
    assert isinstance(problem, MissingInputs)
    assert "KEPT_CHANGES_DAYS" in problem.why


async def check_altered(export: MatchExport) -> None:
    """One digit of a price, a result, a row or an entry that is missing or one too many: each is found."""
    middle = len(export.rows) // 2
    at = next(n for n, row in enumerate(export.rows) if n > middle and row.entity == "market")
    rows = list(export.rows)
    market = msgspec.json.decode(rows[at].body)
    market["probability"] = market["probability"] + 1e-9
    rows[at] = replace(rows[at], body=msgspec.Raw(msgspec.json.encode(market)))
    problem = recompute(replace(export, rows=tuple(rows))).problem
    assert isinstance(problem, Difference)
    assert (problem.seq, problem.about) == (export.rows[at].seq, f"market {export.rows[at].key}")
    assert problem.led_by

    place, entry = next((n, one) for n, one in enumerate(export.ledger) if n > 5 and one.result is Result.WON)
    lost = replace(entry, result=Result.LOST)
    ledger = (*export.ledger[:place], lost, *export.ledger[place + 1 :])
    problem = recompute(replace(export, ledger=ledger)).problem
    assert isinstance(problem, Difference)
    assert f"entry {entry.id}" in problem.about
    body = msgspec.Raw(msgspec.json.encode(lost))
    rows = [replace(row, body=body) if row.seq == entry.id else row for row in export.rows]
    problem = recompute(replace(export, rows=tuple(rows), ledger=ledger)).problem
    assert isinstance(problem, Difference)
    assert problem.seq == entry.id

    for name in ("rows", "ledger"):
        whole = getattr(export, name)
        for altered in (
            whole[:-1],
            (*whole[:5], *whole[6:]),
            (*whole, replace(whole[-1], **_later(whole[-1]))),
        ):
            assert recompute(replace(export, **{name: altered})).problem is not None, name


def _later(last: Any) -> dict[str, int]:
    return {"seq": last.seq + 1} if hasattr(last, "seq") else {"id": last.id + 1}


async def check_without_inputs(export: MatchExport) -> None:
    """A process of a version without inputs that wrote between others is named as the reason."""
    at = next(
        n for n, one in enumerate(export.inputs[1:], 1) if one.after_seq != export.inputs[n - 1].after_seq
    )
    problem = recompute(replace(export, inputs=(*export.inputs[: at - 1], *export.inputs[at:]))).problem
    assert isinstance(problem, MissingInputs)
    problem = recompute(replace(export, inputs=export.inputs[1:])).problem
    assert isinstance(problem, MissingInputs)
    assert "created" in problem.why
    assert isinstance(recompute(replace(export, inputs=())).problem, MissingInputs)


async def test_the_command_says_what_it_found(store: Store, tmp_path: Path) -> None:
    """With exit codes; by other coefficients it names those that are needed."""
    match = await beginning(store)
    export = await exported(store, match)
    file, numbers = tmp_path / "match.json.gz", tmp_path / "coefficients.json"
    file.write_bytes(write_export(export))
    result = recompute_file(file)
    assert (result.returncode, result.stderr) == (0, "")
    assert "bit for bit" in result.stdout

    document = msgspec.json.decode(coefficients.document())
    document["coefficients"]["maps"]["today"] *= 1.01
    numbers.write_bytes(msgspec.json.encode(document))
    result = recompute_file(file, "--coefficients", str(numbers))
    assert result.returncode == 3
    assert f"matchfeed coefficients {coefficients.version()}" in result.stdout
    numbers.write_bytes(coefficients.document())
    assert recompute_file(file, "--coefficients", str(numbers)).returncode == 0

    row = next(row for row in export.rows if row.entity == "market")
    longer = msgspec.json.decode(row.body) | {"odds": "49.000"}
    rows = [
        replace(one, body=msgspec.Raw(msgspec.json.encode(longer))) if one.seq == row.seq else one
        for one in export.rows
    ]
    file.write_bytes(write_export(replace(export, rows=tuple(rows))))
    result = recompute_file(file)
    assert result.returncode == 1
    assert f"different: market {row.key} (change {row.seq}" in result.stdout
    assert '  published: {"odds":"49.000"}' in result.stdout
    file.write_bytes(write_export(replace(export, inputs=export.inputs[1:])))
    assert recompute_file(file).returncode == 4
    file.write_bytes(b"hello")
    result = recompute_file(file)
    assert result.returncode == 1
    assert "matchfeed match export" in result.stderr


async def beginning(store: Store) -> Match:
    """A match of which some lines have come, and that a tenant has unbooked meanwhile, and booked again."""
    traded = TradedMatch(store, SEED, IngestConfig())
    found = await traded.play(30)
    await issuing(store, "s" * 40)("acme", bundles=("cs2.odds.basic",))
    for booked in (False, True):
        async with store.transaction() as tx:
            await set_booked(
                tx, "acme", str(found.match.id), booked, by="tester", now=found.match.last_arrived_at
            )
    return (await traded.play(30)).match


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"hello", gzip.compress(b"{}"), gzip.compress(b"x")[:-4], b"\x1f\x8b" + b"x" * 40),
        gzip.compress(b"x" * 99)[:10] + b"\xff" * 40,
        gzip.compress(b'{"rows":' + b"[" * 100_000),
        gzip.compress(b'{"x":' * 100_000),
    ],
    ids=["empty", "no gzip", "an object", "cut", "no gzip after its mark", "damaged", "deep", "deeper"],
)
def test_what_is_no_file_of_a_match_is_refused(body: bytes) -> None:
    with pytest.raises(NoExport, match="matchfeed match export"):
        read_export(body)
