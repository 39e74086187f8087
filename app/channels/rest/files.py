"""Daily files under /v1/files: the list of those that a key may have, and their bytes.

Which file a name stands for depends on the tenant: its variant (`domain.daily_files`) is computed from what
holds for the tenant and the key at the request, never from what held when files were made.
"""

import asyncio
from collections.abc import Iterator
from datetime import date
from typing import Annotated

from litestar.params import FromPath, QueryParameter

from app.channels.rest.dependencies import Rest, RestDependencies, options
from app.domain.daily_files import SCOPES, FileFormat, FileKind, FileName, parse_name, variant_of
from app.domain.tenant import Grant
from app.files.directory import DayManifest, FileDirectory, StoredFile
from app.http.auth import AuthenticatedRequest, require_scope
from app.http.file_response import FileResponse
from app.http.handlers import get
from app.kit.errors import NotFound
from app.wire.views.files import FileView
from app.wire.views.meta import Many, many

_SCOPES = tuple(sorted(set(SCOPES.values())))
_MEDIA = {FileFormat.PARQUET: "application/vnd.apache.parquet", FileFormat.CSV: "application/gzip"}
_DAY = "Only the files of this day (UTC)."
_HEADERS = ("ETag", "Accept-Ranges")


@get("/v1/files", opt=options(*_SCOPES) | {"may_be_absent": True})
async def list_files(
    request: AuthenticatedRequest,
    rest: Rest,
    day: Annotated[date | None, QueryParameter(description=_DAY)] = None,
) -> Many[FileView]:
    """The daily files that this key may have, the newest day first: prices, settlements, rounds and timeline
    of a day (UTC), as Parquet and CSV, with what REST showed the tenant on it.

    `prices` are for keys that may read markets, `settlements` for those that may read settlements, `rounds`
    and `timeline` for those that may read a match's details. A day's files are made in the first hour of the
    next one. For keys limited to finished matches, a day has the matches that finished on it, from their
    beginning.
    """
    manifests = await asyncio.to_thread(_manifests, _directory(rest), day)
    return many(view for each in manifests for view in _views(request.auth, each))


@get(
    "/v1/files/{file_name:str}",
    opt=options(*_SCOPES) | {"file_response": tuple(_MEDIA.values()), "response_headers": _HEADERS},
)
async def get_file(request: AuthenticatedRequest, rest: Rest, file_name: FromPath[str]) -> FileResponse:
    """The bytes of a daily file, whatever `Accept` says.

    A download that broke off is resumed with `Range: bytes=N-` (N: how many bytes you have) and `If-Range`
    with the ETag: 206 has the rest, and 200 the whole file if it is another one by now.
    """
    directory, name = _directory(rest), parse_name(file_name)
    if name is None:
        raise _unknown(file_name)
    require_scope(request.auth, SCOPES[name.kind])
    manifest = await asyncio.to_thread(directory.manifest, name.day)
    found = manifest.find(name, _digest(request.auth, manifest, name.kind)) if manifest else None
    if found is None:
        raise _unknown(file_name)
    path = directory.path_of(name.day, found)
    return FileResponse(path, size=found.size, tag=found.sha256, media_type=_MEDIA[name.form], name=str(name))


def _directory(rest: RestDependencies) -> FileDirectory:
    if rest.files is None:
        raise NotFound("There are no daily files here: the operator has set no FILES_DIRECTORY.")
    return rest.files


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no file {name!r}; /v1/files lists those that there are.")


def _manifests(directory: FileDirectory, day: date | None) -> list[DayManifest]:
    found = [directory.manifest(each) for each in (directory.days() if day is None else [day])]
    return [each for each in found if each]


def _views(grant: Grant, manifest: DayManifest) -> Iterator[FileView]:
    for kind in FileKind:
        if SCOPES[kind] in grant.scopes:
            digest = _digest(grant, manifest, kind)
            for form in FileFormat:
                name = FileName(kind, manifest.day, form)
                if file := manifest.find(name, digest):
                    yield _view(name, file)


def _digest(grant: Grant, manifest: DayManifest, kind: FileKind) -> str:
    """Which of the files of a kind this key may have."""
    return variant_of(kind, grant.tenant, manifest.seqs, finished_only=grant.finished_only).digest


def _view(name: FileName, file: StoredFile) -> FileView:
    return FileView(
        name=str(name),
        day=name.day,
        kind=name.kind,
        format=name.form,
        size=file.size,
        rows=file.rows,
        sha256=file.sha256,
        complete=file.complete,
        columns=file.columns,
    )
