"""Cells of the settlements' file: no spreadsheet evaluates one, and none is lost."""

import csv
import io

import pytest
from msgspec.structs import replace

from app.domain.settlement import LedgerEntry, LedgerStatus
from app.kit.csv_rows import csv_text
from app.sites.pages.settlements import SettlementRow
from app.sites.portal import settlements as settlement_file

ENTRY = LedgerEntry(13, "map=1", LedgerStatus.PENDING, LedgerStatus.SETTLED, None, "reason", (1, 2), id=9)
ROW = SettlementRow(
    entry=ENTRY,
    kind="settled",
    match_urn="od:match:1",
    match_name="a – b",
    market="m",
    market_path="/",
    void_reason="",
    rolled_back_by=None,
)


def cells(row: SettlementRow) -> dict[str, str]:
    text = csv_text([settlement_file.CSV_COLUMNS, settlement_file.cells_of(row)])
    (found,) = csv.DictReader(io.StringIO(text, newline=""))
    return found


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_begins_as_a_formula_does(first: str) -> None:
    text = f'{first}1+1,"two"\nlines'
    found = cells(replace(ROW, match_name=text, entry=replace(ENTRY, reason=text)))
    assert found["match_name"] == found["reason"] == f"'{text}"


def test_every_column_has_its_cell() -> None:
    found = cells(ROW)
    assert tuple(found) == settlement_file.CSV_COLUMNS
    assert found["rests_on"] == "1 2" and found["id"] == "9" and found["rolled_back_by"] == ""
