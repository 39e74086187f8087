"""Where daily files are: a folder for each day, with its files and a manifest that lists them.

    2031-04-02/manifest.json
    2031-04-02/prices-9f0c….parquet

One process at a time makes files here (`FileDirectory.lock`); any number read them.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import msgspec

from app.domain.daily_files import FileFormat, FileKind, FileName, Seqs
from app.kit.errors import Conflict
from app.wire.views.file_rows import FileColumn

_DAYS = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MANIFEST, _LOCK, _UNFINISHED = "manifest.json", ".lock", ".unfinished"


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a day: the digest of its variant, its size in bytes, its rows, the SHA-256 of its bytes, and
    its columns. Not `complete`: the change log did not have every change of the day any more."""

    kind: FileKind
    form: FileFormat
    variant: str
    size: int
    rows: int
    sha256: str
    complete: bool
    columns: tuple[FileColumn, ...]

    @property
    def stored_name(self) -> str:
        return f"{self.kind}-{self.variant}.{self.form}"


class DayManifest(msgspec.Struct, frozen=True):
    """The files of a day, and the changes that they rest on."""

    day: date
    seqs: Seqs
    files: tuple[StoredFile, ...] = ()

    def find(self, name: FileName, variant: str) -> StoredFile | None:
        """The file of that name for those who have this variant."""
        wanted = name.kind, name.form, variant
        return next((one for one in self.files if (one.kind, one.form, one.variant) == wanted), None)


_decode = msgspec.json.Decoder(DayManifest).decode


class FileDirectory:
    """The directory of daily files. Errors of the file system are raised as they are (`OSError`)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[date, tuple[tuple[int, int], DayManifest]] = {}

    def days(self) -> list[date]:
        """The days that have a manifest, newest first."""
        return [day for day in self._folders() if (self._folder(day) / _MANIFEST).exists()]

    def manifest(self, day: date) -> DayManifest | None:
        """The day's manifest; None before its files are made, and after they are pruned. One that was read
        before is read again when its file is another one."""
        path = self._folder(day) / _MANIFEST
        try:
            found = path.stat()
            version, (known, manifest) = (found.st_ino, found.st_mtime_ns), self._known.get(day, (None, None))
            if manifest is None or known != version:
                manifest = _decode(path.read_bytes())
                self._known[day] = version, manifest
            return manifest
        except FileNotFoundError:
            self._known.pop(day, None)
            return None

    def path_of(self, day: date, file: StoredFile) -> Path:
        return self._folder(day) / file.stored_name

    def is_whole(self, day: date, file: StoredFile) -> bool:
        """Whether the file is there, with all its bytes."""
        try:
            return self.path_of(day, file).stat().st_size == file.size
        except FileNotFoundError:
            return False

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only one who makes files here; raises `Conflict` while another process does."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / _LOCK).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Conflict(f"Another process makes files in {self.path} at this moment.") from error
            yield

    @contextmanager
    def unfinished(self, day: date) -> Iterator[Path]:
        """An empty folder for files that are not complete yet, which is gone afterwards."""
        folder = self._folder(day) / _UNFINISHED
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def add(self, day: date, written: Path, file: StoredFile) -> None:
        """Move a file that is complete to its place. Nobody reads it before the manifest lists it."""
        _sync(written)
        os.replace(written, self.path_of(day, file))

    def save(self, manifest: DayManifest) -> None:
        """Replace the day's manifest, and delete the files that it does not list."""
        folder = self._folder(manifest.day)
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f"{_MANIFEST}.new"
        new.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
        _sync(new)
        os.replace(new, folder / _MANIFEST)
        listed = {_MANIFEST, *(each.stored_name for each in manifest.files)}
        for path in folder.iterdir():
            if path.is_file() and path.name not in listed:
                path.unlink()

    def prune(self, before: date) -> list[date]:
        """Delete the files of the days before that one, listed or not; those days. A download that has begun
        goes on. Nobody may make files meanwhile (`lock`)."""
        old = [day for day in self._folders() if day < before]
        for day in old:
            (self._folder(day) / _MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(self._folder(day))
        return old

    def _folders(self) -> list[date]:
        """The days that have a folder, newest first."""
        return sorted((date.fromisoformat(each.name) for each in self.path.glob(_DAYS)), reverse=True)

    def _folder(self, day: date) -> Path:
        return self.path / day.isoformat()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Have the file's bytes on the disk before anything names them."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
