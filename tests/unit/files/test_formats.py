"""The bytes of daily files: CSV as text, Parquet by its types, both the same each time."""

import gzip
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from app.domain.daily_files import FileFormat, FileKind
from app.files.formats import open_writer
from app.wire.views.file_rows import FileColumn, FileRow, columns_of

_TYPES = ("string", "integer", "decimal", "double", "boolean", "timestamp")
COLUMNS = tuple(FileColumn(f"a_{kind}", kind) for kind in _TYPES)
ROWS: list[FileRow] = [
    ('=Ann, "A"', -5, 1.85, 0.432199, True, 1_933_007_400_125),
    ("ж", 2**62, 49.999, -1e-05, False, 0),
    (None, None, None, None, None, None),
]
LINES = (
    "a_string,a_integer,a_decimal,a_double,a_boolean,a_timestamp",
    '"\'=Ann, ""A""",-5,1.85,0.432199,true,2031-04-03T18:30:00.125Z',
    "ж,4611686018427387904,49.999,-1e-05,false,1970-01-01T00:00:00.000Z",
    ",,,,,",
)
CSV = "".join(f"{line}\r\n" for line in LINES)


def written(path: Path, form: FileFormat, *groups: list[FileRow], columns: Any = COLUMNS) -> bytes:
    with open_writer(form, path, columns) as writer:
        for rows in groups:
            writer.write(rows)
    return path.read_bytes()


def test_csv(tmp_path: Path) -> None:
    body = written(tmp_path / "rows", FileFormat.CSV, ROWS)
    assert gzip.decompress(body).decode() == CSV
    assert gzip.decompress(written(tmp_path / "rows", FileFormat.CSV, ROWS[:1], ROWS[1:])).decode() == CSV
    assert gzip.decompress(written(tmp_path / "none", FileFormat.CSV)).decode() == f"{LINES[0]}\r\n"


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    written(path, FileFormat.PARQUET, ROWS[:1], ROWS[1:])
    file = parquet.ParquetFile(path)
    assert [str(field.type) for field in file.schema_arrow] == [
        *("string", "int64", "decimal128(6, 3)", "double", "bool", "timestamp[ms, tz=UTC]")
    ]
    assert file.num_row_groups == 2
    cells = [tuple(row.values()) for row in file.read().to_pylist()]
    assert [row[:2] + row[3:5] for row in cells] == [row[:2] + row[3:5] for row in ROWS]
    assert [row[2] for row in cells] == [Decimal("1.850"), Decimal("49.999"), None]
    assert [row[5] and round(row[5].timestamp() * 1000) for row in cells[:1]] == [ROWS[0][5]]


@given(thousandths=st.lists(st.integers(1000, 999_999), min_size=1, max_size=50))
def test_odds_are_exact_in_both(thousandths: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("odds")
    odds = [Decimal(each) / 1000 for each in thousandths]
    rows: list[FileRow] = [(float(each),) for each in odds]
    columns = (FileColumn("odds", "decimal"),)
    written(place / "a", FileFormat.PARQUET, rows, columns=columns)
    assert parquet.read_table(place / "a")["odds"].to_pylist() == odds
    text = gzip.decompress(written(place / "b", FileFormat.CSV, rows, columns=columns)).decode()
    assert [Decimal(line) for line in text.split()[1:]] == odds


@pytest.mark.parametrize("form", FileFormat)
def test_the_same_rows_make_the_same_bytes(tmp_path: Path, form: FileFormat) -> None:
    assert written(tmp_path / "one", form, ROWS, ROWS) == written(tmp_path / "other", form, ROWS, ROWS)


@pytest.mark.parametrize("kind", FileKind)
def test_a_column_that_is_not_contracted_is_not_there(kind: FileKind) -> None:
    names = [each.name for each in columns_of(kind, probabilities=True)]
    assert len(names) == len(set(names))
    without = [each.name for each in columns_of(kind, probabilities=False)]
    assert without == [name for name in names if name != "probability"]
    assert ("probability" in names) is (kind is FileKind.PRICES)
