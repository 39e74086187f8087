"""Import of results and strengths from outside: what ratings follow from beside our own matches."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.commands import match_entrants
from app.commands.match_entrants import find_team
from app.domain.entrants import MAX_STRENGTH
from app.domain.strength import MapPlayed, MapResult, Place, RatingEvent, StrengthGiven
from app.kit.clock import LAST_MILLIS
from app.kit.errors import Field, Invalid
from app.kit.names import Name
from app.store import audit, ratings
from app.store.audit import AuditRecord
from app.store.transaction import Tx

Rounds = Annotated[int, Meta(ge=0, le=200)]
Moment = Annotated[int, Meta(ge=0, le=LAST_MILLIS)]
_PLACES: dict[str, Place] = {"team_a": "a", "team_b": "b"}
_OTHER: dict[Place, Place] = {"a": "b", "b": "a"}


class ImportedResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A map between two teams. `id` is the importer's own: with it a result is imported once, and corrected;
    `void` takes it back. `at`: when it ended, Unix ms. `match` is equal for the maps of one match. `winner`
    may be left out where both scores are known. `max_rounds`: the format without overtime."""

    id: Name
    at: Moment
    team_a: Name
    team_b: Name
    score_a: Rounds | None = None
    score_b: Rounds | None = None
    winner: Literal["team_a", "team_b"] | None = None
    match: Name | None = None
    map: Annotated[str, Meta(max_length=60)] = ""
    picked_by: Literal["team_a", "team_b"] | None = None
    max_rounds: Annotated[int, Meta(ge=2, le=100)] = 24
    void: bool = False


class ImportedStrength(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A team's strength as of `at` (Unix ms), on the scale of the public ranking. With `spread`, its standard
    deviation in points, the rating begins anew. Without, it counts as points of the public ranking, which
    begin a rating, or are weighed against one that began with a strength."""

    id: Name
    at: Moment
    team: Name
    strength: Annotated[float, Meta(gt=0, le=MAX_STRENGTH)]
    spread: Annotated[float, Meta(gt=0, le=MAX_STRENGTH)] | None = None
    void: bool = False


Imported = ImportedResult | ImportedStrength
Location = tuple[str | int, ...]  #: of a row, as errors name it


class ImportCounts(msgspec.Struct, frozen=True):
    """How many rows were new or corrected, were taken back, or changed nothing."""

    changed: int
    void: int
    unchanged: int


async def import_ratings(
    tx: Tx, rows: Sequence[tuple[Location, Imported]], *, by: str, now: int
) -> ImportCounts:
    """Store results and strengths, each with its location in the request or file, and compute ratings from
    the first change on. Unknown teams are created.

    Raises `Invalid` with every invalid row; nothing may be committed then.
    """
    _check(rows, now)
    known = await ratings.events(tx, [_reference(row) for _, row in rows])
    teams = await _teams(tx, rows)
    wanted = [_event(row, teams) for _, row in rows if not row.void]
    gone = [known[_reference(row)] for _, row in rows if row.void and _reference(row) in known]
    new = [one for one in wanted if known.get(one.reference) != one]
    counts = ImportCounts(len(new), len(gone), len(rows) - len(new) - len(gone))
    if new or gone:
        await match_entrants.change_events(tx, new, gone)
        await audit.add(tx, AuditRecord(now, by, "ratings.import", "", None, msgspec.to_builtins(counts)))
    return counts


async def compute_anew(tx: Tx, *, by: str, now: int) -> int:
    """All ratings from their first event on, as after an upgrade that has changed how ratings follow from
    results; how many teams have one."""
    teams = await match_entrants.compute_all(tx)
    await audit.add(tx, AuditRecord(now, by, "ratings.compute", "", None, {"teams": teams}))
    return teams


def _check(rows: Sequence[tuple[Location, Imported]], now: int) -> None:
    faults = [fault for place, row in rows for fault in _faults(place, row, now)]
    seen: set[str] = set()
    for place, row in rows:
        if _reference(row) in seen:
            faults.append(Field((*place, "id"), "This id occurs twice.", "repeated_id", row.id))
        seen.add(_reference(row))
    if faults:
        raise Invalid(*faults)


def _faults(place: Location, row: Imported, now: int) -> list[Field]:
    faults = []
    if row.at > now:
        faults.append(Field((*place, "at"), "It lies in the future.", "in_the_future", row.at))
    if isinstance(row, ImportedResult):
        scores = row.score_a, row.score_b
        if (row.score_a is None) is not (row.score_b is None):
            faults.append(Field((*place, "score_b"), "Give both scores or none.", "half_a_score", scores))
        elif row.score_a is None and row.winner is None:
            faults.append(Field((*place, "winner"), "Give the winner or the score.", "no_winner", None))
        elif row.score_a is not None and row.score_a == row.score_b:
            faults.append(Field((*place, "score_b"), "A level map shows no winner.", "level", scores))
        elif row.score_a is not None and row.winner not in (None, _winner(row)):
            faults.append(Field((*place, "winner"), "The score says otherwise.", "contradiction", row.winner))
    return faults


def _winner(row: ImportedResult) -> str:
    if row.score_a is None or row.score_b is None:
        return row.winner or ""
    return "team_a" if row.score_a > row.score_b else "team_b"


async def _teams(tx: Tx, rows: Sequence[tuple[Location, Imported]]) -> dict[str, int]:
    """The number of each team that a row names, by the name as it stands there."""
    found: dict[str, int] = {}
    faults: list[Field] = []
    for place, row in rows:
        for field, name in _names(row):
            if row.void or name in found:
                continue
            try:
                found[name] = (await find_team(tx, (*place, field), name)).id
            except Invalid as error:
                faults += error.fields
    faults += [
        Field((*place, "team_b"), "A team does not play against itself.", "same_team", row.team_b)
        for place, row in rows
        if isinstance(row, ImportedResult) and not row.void and not faults
        if found[row.team_a] == found[row.team_b]
    ]
    if faults:
        raise Invalid(*faults)
    return found


def _names(row: Imported) -> tuple[tuple[str, str], ...]:
    if isinstance(row, ImportedStrength):
        return (("team", row.team),)
    return ("team_a", row.team_a), ("team_b", row.team_b)


def _reference(row: Imported) -> str:
    return f"{'strength' if isinstance(row, ImportedStrength) else 'result'}:{row.id}"


def _event(row: Imported, teams: Mapping[str, int]) -> RatingEvent:
    if isinstance(row, ImportedStrength):
        return StrengthGiven(_reference(row), row.at, teams[row.team], row.strength, row.spread or 0.0)
    return _played(row, teams[row.team_a], teams[row.team_b])


def _played(row: ImportedResult, a: int, b: int) -> MapPlayed:
    winner = _PLACES[_winner(row)]
    picker: Place | Literal[""] = _PLACES[row.picked_by] if row.picked_by else ""
    scores = None if row.score_a is None or row.score_b is None else (row.score_a, row.score_b)
    if b < a:
        winner, picker = _OTHER[winner], _OTHER[picker] if picker else ""
        scores = None if scores is None else (scores[1], scores[0])
    return MapPlayed(
        reference=_reference(row),
        at=row.at,
        series=f"result:{row.match or row.id}",
        a=min(a, b),
        b=max(a, b),
        result=MapResult(winner, scores, row.max_rounds, picker),
        map_name=row.map,
    )
