"""Rows as Parquet and as CSV, written a group of rows at a time.

Parquet needs pyarrow, which is an extra of the package (`matchfeed[parquet]`): `formats` has what can be
written here. Odds are decimal(6,3) in Parquet, exact as the text of the feed: a double would be the nearest
one, and `odds = 1.85` false for some readers. Probabilities are doubles, as the model's are.

CSV is compressed (gzip) as a file, not for the transfer: a range of its bytes is then the same for everybody.
"""

import gzip
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, Self

from app.domain.daily_files import FileFormat
from app.kit.clock import iso_millis
from app.kit.csv_rows import csv_text
from app.wire.views.file_rows import FileColumn, FileColumnType, FileRow

try:
    import pyarrow
    from pyarrow import parquet
except ImportError:  # the extra is not installed
    pyarrow = None

GROUP_ROWS = 65_536  #: rows of a row group in Parquet, and of what is written at once
_GZIP_LEVEL = 1  #: 6 takes three times as long, for a fifth fewer bytes


class FileWriter(Protocol):
    """Writes the rows of one file: a context manager, at whose end the file is complete."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def write(self, rows: Sequence[FileRow]) -> None:
        """Append a group of rows."""


class CsvWriter:
    """CSV with a header, in UTF-8, compressed: empty cells for None, times in ISO 8601 with milliseconds."""

    def __init__(self, path: Path, columns: Sequence[FileColumn]) -> None:
        self._file = path.open("wb")
        # Without a name and a time, so that the same rows make the same bytes.
        self._gzip = gzip.GzipFile("", "wb", _GZIP_LEVEL, self._file, mtime=0)
        self._texts = {at: _TEXTS[each.type] for at, each in enumerate(columns) if each.type in _TEXTS}
        self._gzip.write(csv_text([[each.name for each in columns]]).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._gzip.close()

    def write(self, rows: Sequence[FileRow]) -> None:
        columns = list(zip(*rows, strict=True))
        for at, text in self._texts.items():
            columns[at] = tuple([None if cell is None else text(cell) for cell in columns[at]])
        self._gzip.write(csv_text(zip(*columns, strict=True)).encode())


_time = lru_cache(maxsize=1024)(iso_millis)
_TEXTS: dict[FileColumnType, Callable[[Any], str]] = {
    "timestamp": _time,
    "boolean": lambda cell: "true" if cell else "false",
}


class ParquetWriter:
    """Parquet with a row group for each group of rows, compressed with Zstandard."""

    def __init__(self, path: Path, columns: Sequence[FileColumn]) -> None:
        self._schema = pyarrow.schema([(each.name, _ARROW[each.type]()) for each in columns])
        self._types = [each.type for each in columns]
        self._file = parquet.ParquetWriter(
            path, self._schema, compression="zstd", store_decimal_as_integer=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, rows: Sequence[FileRow]) -> None:
        cells = zip(*rows, strict=True)
        arrays = [_array(column, field.type) for column, field in zip(cells, self._schema, strict=True)]
        self._file.write_table(pyarrow.Table.from_arrays(arrays, schema=self._schema), len(rows))


_ARROW: dict[FileColumnType, Callable[[], Any]] = {
    "string": lambda: pyarrow.string(),
    "integer": lambda: pyarrow.int64(),
    "decimal": lambda: pyarrow.decimal128(6, 3),
    "double": lambda: pyarrow.float64(),
    "boolean": lambda: pyarrow.bool_(),
    "timestamp": lambda: pyarrow.timestamp("ms", "UTC"),
}


def _array(cells: Sequence[Any], kind: Any) -> Any:
    """A column; decimals come as floats with three decimals, which the cast rounds to."""
    if pyarrow.types.is_decimal(kind):
        return pyarrow.array(cells, pyarrow.float64()).cast(kind)
    return pyarrow.array(cells, kind)


def formats() -> tuple[FileFormat, ...]:
    """The formats that can be written here."""
    return (FileFormat.PARQUET, FileFormat.CSV) if pyarrow else (FileFormat.CSV,)


def open_writer(form: FileFormat, path: Path, columns: Sequence[FileColumn]) -> FileWriter:
    """A writer of one file."""
    return ParquetWriter(path, columns) if form is FileFormat.PARQUET else CsvWriter(path, columns)
