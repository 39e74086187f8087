"""Imports of documents of reference data, each with a report of what it changed and what it refused.

Entrants are one transaction, each fixture is one of its own: a transaction that changes matches holds up all
others that do. A row that is refused leaves the others alone. An import that breaks off may be repeated: what
was imported changes nothing the next time.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from uuid import uuid4

from msgspec.structs import replace

from app.commands import entrant_import
from app.commands.entrant_import import Row
from app.commands.fixture_import import import_fixture, plan_fixture
from app.commands.reference_documents import Parsed, refused_row
from app.domain.reference_reports import Fixture, FixtureChange, ImportReport, RefusedRow
from app.kit.clock import Clock
from app.kit.errors import Invalid, Refusal, Unavailable
from app.store import entrants, reference_imports
from app.store.connections import Store
from app.store.entrants import folded
from app.store.transaction import Tx
from app.trading.pricing import PricingConfig


class Import(NamedTuple):
    """Who imports, by which clock, and how matches are priced; the name and the SHA-256 of the file, "" for a
    request. A dry run changes and stores nothing."""

    by: str
    clock: Clock
    pricing: PricingConfig
    name: str = ""
    sha256: str = ""
    dry_run: bool = False


class _Done:
    """What an import has done so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.unchanged = 0
        self.fixtures: list[FixtureChange] = []
        self.refused: list[RefusedRow] = []

    def note(self, change: FixtureChange | None) -> None:
        if change is None:
            self.unchanged += 1
        else:
            self.fixtures.append(change)

    @contextmanager
    def noting_refusal(self, number: int) -> Iterator[None]:
        """Note it if the fixture of this row is refused within the block."""
        try:
            yield
        except Unavailable:
            raise
        except Invalid as error:
            self.refused += [
                refused_row(replace(field, loc=(number, field.loc[-1]))) for field in error.fields
            ]
        except Refusal as error:
            self.refused.append(RefusedRow(number, "", error.detail))


async def import_parsed(store: Store, parsed: Parsed, how: Import) -> ImportReport:
    """Import what a document holds; returns the report, which is stored unless it is of a dry run.

    Raises `Unavailable` if the database is down: what was imported before stays.
    """
    done, began = _Done(), how.clock()
    while not await _entrants_imported(store, parsed, how, done):
        pass
    if not how.dry_run:
        for number, fixture in parsed.fixtures.items():
            await _import_fixture(store, number, fixture, how, done)
    report = _report(how, began, done, parsed.refused)
    if not how.dry_run:
        async with store.transaction() as tx:
            await reference_imports.add_report(tx, report)
    return report


async def report_unreadable(store: Store, error: Invalid, how: Import) -> ImportReport:
    """The report of a document that cannot be read at all; stored unless it is of a dry run."""
    return await import_parsed(store, Parsed(refused=[refused_row(field) for field in error.fields]), how)


async def _entrants_imported(store: Store, parsed: Parsed, how: Import, done: _Done) -> bool:
    """Import the entrants, and plan the fixtures in a dry run: both in one transaction, so that fixtures see
    them. False if rows were refused: then nothing is written, and the others are to be tried again."""
    begin = store.dry_run if how.dry_run else store.transaction
    try:
        async with begin() as tx:
            done.counts = await _import_entrants(tx, parsed, how)
            if how.dry_run:
                await _plan_fixtures(tx, parsed, how, done)
    except Invalid as error:
        parsed.refuse(error)
        return False
    return True


async def _import_entrants(tx: Tx, parsed: Parsed, how: Import) -> Counter[str]:
    joining = [
        Row("player", name, {}, (one.row,), links={"team_id": one.team})
        for one in parsed.line_ups
        for name in one.players
    ]
    rows = [*parsed.entrants, *joining]
    if not rows:
        return Counter()
    counts = await entrant_import.import_rows(tx, rows, parsed.seasons, by=how.by, now=how.clock())
    if parsed.line_ups:
        counts["line_up"] = len(parsed.line_ups)
        counts["player_changed"] += await _remove_others(tx, parsed)
    return counts


async def _remove_others(tx: Tx, parsed: Parsed) -> int:
    """Take the players whom their team's line-up does not name out of the team; how many there are."""
    left = []
    for one in parsed.line_ups:
        [team] = await entrants.named(tx, entrants.TEAMS, [one.team])
        names = {folded(name) for name in one.players}
        members = await entrants.children(tx, entrants.PLAYERS, team.id)
        left += [replace(player, team_id=None) for player in members if folded(player.name) not in names]
    await entrants.put(tx, entrants.PLAYERS, left)
    return len(left)


async def _plan_fixtures(tx: Tx, parsed: Parsed, how: Import, done: _Done) -> None:
    for number, fixture in parsed.fixtures.items():
        with done.noting_refusal(number):
            done.note(await plan_fixture(tx, fixture, by=how.by, now=how.clock(), pricing=how.pricing))


async def _import_fixture(store: Store, number: int, fixture: Fixture, how: Import, done: _Done) -> None:
    with done.noting_refusal(number):
        async with store.transaction() as tx:
            change = await import_fixture(tx, fixture, by=how.by, now=how.clock(), pricing=how.pricing)
        done.note(change)


def _report(how: Import, began: int, done: _Done, refused: list[RefusedRow]) -> ImportReport:
    every = sorted([*refused, *done.refused], key=lambda one: one.row)
    return ImportReport(
        id=uuid4(),
        at=began,
        by=how.by,
        name=how.name,
        sha256=how.sha256,
        dry_run=how.dry_run,
        counts=dict(done.counts),
        unchanged=done.unchanged,
        fixtures=tuple(done.fixtures),
        refused=tuple(every),
    )
