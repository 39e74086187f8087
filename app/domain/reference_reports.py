"""Fixtures as sources of reference data list them, and what an import of reference data did."""

from typing import Any, Literal
from uuid import UUID

import msgspec

BestOf = Literal["bo1", "bo3", "bo5"]


class Fixture(msgspec.Struct, frozen=True, kw_only=True):
    """A match that a source lists, under an `id` of the source's own. `scheduled_at` in Unix ms, None while
    it is not known. The ids of the teams and of the tournament are ours, for names that are ambiguous."""

    source: str
    id: str
    team_a: str
    team_b: str
    event: str
    bo_type: BestOf = "bo1"
    scheduled_at: int | None = None
    id_a: int | None = None
    id_b: int | None = None
    tournament_id: int | None = None
    cancelled: bool = False

    @property
    def reference(self) -> str:
        """By what it is known: no source has a slash in its name."""
        return f"{self.source}/{self.id}"


class FixtureChange(msgspec.Struct, frozen=True):
    """What an import did with the match of a fixture (`reference`): it was created, or these of its `fields`
    were changed. `match_id` is None where the match would be created (a dry run)."""

    reference: str
    action: Literal["created", "changed"]
    fields: tuple[str, ...] = ()
    match_id: UUID | None = None


class RefusedRow(msgspec.Struct, frozen=True):
    """A row that was not imported: its number in the document, from 1 (a line's in a file of lines; 0: the
    whole document), the `field` that is wrong ("" for the row), and why."""

    row: int
    field: str
    reason: str
    given: Any = None


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """An import at `at` (Unix ms) by `by`, an actor of the audit log. `name` is that of the file, "" for a
    request; `sha256` that of its bytes, in hexadecimal. `counts` has the rows of each kind, and
    `<kind>_changed` those that were new or differed; `unchanged` counts fixtures that were the same."""

    id: UUID
    at: int
    by: str
    name: str = ""
    sha256: str = ""
    dry_run: bool = False
    counts: dict[str, int] = {}
    unchanged: int = 0
    fixtures: tuple[FixtureChange, ...] = ()
    refused: tuple[RefusedRow, ...] = ()
