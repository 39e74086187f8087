"""What the transactions on a match were given, and the coefficients by which matches were priced."""

from typing import Any, NamedTuple
from uuid import UUID

from piccolo.query import Insert, Select

from app.store.prepared import prepared, reading, reading_row, reading_rows, writing
from app.store.tables.match import Coefficients, MatchInput
from app.store.transaction import Write


class CoefficientsVersion(NamedTuple):
    """A version of the coefficients, and when (Unix ms) a match was first priced by it."""

    sha256: str
    at: int


def add_statement(match_id: UUID, body: bytes) -> Write:
    return Write.of(_add(match_id, body))


@writing
def add_coefficients(sha256: str, body: bytes, now: int, /) -> Insert[Any]:
    """Store a version of the coefficients, unless it is stored."""
    version = Coefficients(sha256=sha256, at=now, body=body)
    return Coefficients.insert(version).on_conflict(action="DO NOTHING")


@reading(lambda rows: [bytes(row["body"]) for row in rows])
def of_match(match_id: UUID, /) -> Select[Any]:
    """The inputs of a match in the order of its transactions."""
    query = MatchInput.select(MatchInput.body).where(MatchInput.match_id == match_id)
    return query.order_by(MatchInput.id)


@reading_rows(lambda row: CoefficientsVersion(row["sha256"], row["at"]))
def coefficients_versions() -> Select[Any]:
    """All versions, oldest first."""
    return Coefficients.select(Coefficients.sha256, Coefficients.at).order_by(Coefficients.at)


@reading_row(lambda row: bytes(row["body"]))
def coefficients_body(sha256: str, /) -> Select[Any]:
    """The JSON of a version; None for one by which nothing was priced."""
    return Coefficients.select(Coefficients.body).where(Coefficients.sha256 == sha256)


@prepared
def _add(match_id: UUID, body: bytes) -> Insert[Any]:
    return MatchInput.insert(MatchInput(match_id=match_id, body=body))
