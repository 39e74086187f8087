"""The files that the console loads: where each is served, its type and its digest."""

import base64
import gzip
import hashlib
import tomllib
from functools import cache
from pathlib import Path

import msgspec

_FOLDER = Path(__file__).parent
_OURS, _PACKAGE = _FOLDER / "assets", _FOLDER / "swagger_ui"
_TYPES = {".css": "text/css", ".js": "text/javascript"}
_GZIP_LEVEL = 9  #: each file is compressed once in a process


class Package(msgspec.Struct, frozen=True):
    """An npm package whose files we serve unchanged.

    `integrity` is npm's digest of the archive; `files` has the SHA-384 of each file that we took from it, in
    the form of the HTML attribute `integrity`."""

    name: str
    version: str
    licence: str
    integrity: str
    files: dict[str, str]


class ConsoleFile(msgspec.Struct, frozen=True):
    """A file of the console. `version` is the part of its address that changes with its content."""

    path: Path
    version: str
    integrity: str

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def address(self) -> str:
        """The path at which it is served."""
        return f"/v1/docs/console/{self.version}/{self.name}"

    @property
    def media_type(self) -> str:
        """Its content type, to which the framework adds the charset; licences are plain text."""
        return _TYPES.get(self.path.suffix, "text/plain")

    def content(self, gzipped: bool) -> bytes:
        """Its bytes, or the gzipped ones. They are read once; the first call takes tenths of a second."""
        return _content(self.path, gzipped)


@cache
def _content(path: Path, gzipped: bool) -> bytes:
    plain = path.read_bytes()
    return gzip.compress(plain, _GZIP_LEVEL, mtime=0) if gzipped else plain


def _sha384(path: Path) -> str:
    return f"sha384-{base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()}"


def _ours(path: Path) -> ConsoleFile:
    """A file of ours. Its version is a hash: it changes more often than the service's version."""
    version = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return ConsoleFile(path, version, _sha384(path))


def _packaged(name: str, integrity: str) -> ConsoleFile:
    """A file of the package. Its digest is the recorded one: a browser refuses a file that was changed."""
    return ConsoleFile(_PACKAGE / name, f"{PACKAGE.name}-{PACKAGE.version}", integrity)


PACKAGE = msgspec.convert(tomllib.loads((_PACKAGE / "package.toml").read_text()), Package)
_ALL = (
    *(_ours(path) for path in sorted(_OURS.iterdir())),
    *(_packaged(name, integrity) for name, integrity in PACKAGE.files.items()),
)
#: By the name: no two have the same.
FILES = {file.name: file for file in _ALL}
