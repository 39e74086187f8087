"""The list of daily files as JSON."""

from datetime import date

import msgspec

from app.domain.daily_files import FileFormat, FileKind
from app.wire.views.file_rows import FileColumn

SCHEMA_VERSION = 1  #: another one when a column changes or goes; columns may be added at any time


class FileView(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a day (UTC), under `/v1/files/{name}`: its size in bytes, its rows, the SHA-256 of its bytes
    (its ETag), and its columns in order. Where `complete` is false, changes of that day are missing, because
    they were not kept. `schema_version` is another one when a column changes or goes."""

    name: str
    day: date
    kind: FileKind
    format: FileFormat
    size: int
    rows: int
    sha256: str
    complete: bool
    schema_version: int = SCHEMA_VERSION
    columns: tuple[FileColumn, ...]
