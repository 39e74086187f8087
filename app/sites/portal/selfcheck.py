"""The self-check: a client's book, uploaded or pasted as a file or a text, against the tenant's open
markets; the mistakes of the upload in words, the differences explained.
"""

import re
from collections.abc import Sequence
from itertools import groupby

import msgspec
from litestar import Response, post
from litestar.datastructures import FormMultiDict, UploadFile
from msgspec import UNSET

from app.access.reach import reach_of
from app.access.selfcheck import BODY_BYTES, compare, expected_digest
from app.domain import scopes
from app.domain.ids import match_number
from app.domain.scopes import Reach
from app.domain.selfcheck import DifferenceKind
from app.http.handlers import get
from app.kit.errors import Field, Invalid
from app.kit.heavy_work import run_in_thread
from app.sites.pages.market_names import MarketNames, names_of
from app.sites.pages.rendering import download_headers, page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.texts import Texts
from app.sites.portal.dependencies import Portal
from app.store import listings
from app.store.listings import MatchName
from app.wire.views.selfcheck import DifferenceView, Digest, SelfCheckView

_digest = msgspec.json.Decoder(Digest).decode
_BYTE = re.compile(r"\(byte (\d+)\)")


async def read_digest(form: FormMultiDict) -> Digest:
    """The digest in the fields `file` or `digest` of a form; raises `Invalid`. The file counts if there are
    both."""
    document = await _document(form)
    if not document.strip():
        raise Invalid(Field((), "Choose a file, or paste a digest.", "nothing"))
    if len(document) > BODY_BYTES:
        raise Invalid(Field((), f"At most {BODY_BYTES} bytes.", "too_large"))
    return await run_in_thread(_decode, document)


def in_words(texts: Texts, refusal: Invalid) -> list[str]:
    """What is wrong with a digest, each with its place."""
    return [_sentence(texts, field) for field in refusal.fields]


async def _document(form: FormMultiDict) -> bytes:
    file, pasted = form.get("file"), form.get("digest")
    if isinstance(file, UploadFile) and file.filename:
        return await file.read(BODY_BYTES + 1)
    return pasted.encode() if isinstance(pasted, str) else b""


def _decode(document: bytes) -> Digest:
    try:
        return _digest(document)
    except msgspec.ValidationError as error:
        raise Invalid(Field((), str(error), "not_a_digest")) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid(Field(_place(document, str(error)), str(error), "malformed")) from error


def _place(document: bytes, problem: str) -> tuple[str | int, ...]:
    """Line and column, from 1, of the byte that the decoder names; none if it names none."""
    found = _BYTE.search(problem)
    if found is None:
        return ()
    before = document[: int(found[1])]
    line_start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[line_start:].decode(errors="replace")) + 1


def _sentence(texts: Texts, field: Field) -> str:
    name = f"selfcheck.problems.{field.type}"
    if field.type == "malformed" and field.loc:
        line, column = field.loc
        return texts(name, line=line, column=column, problem=field.msg)
    if field.type in ("malformed", "not_a_digest"):
        return texts("selfcheck.problems.not_a_digest", problem=field.msg)
    what = texts(name) if texts.has(name) else field.msg
    return texts("selfcheck.at", place=_path(field.loc[1:]), problem=what) if field.loc else what


def _path(loc: tuple[str | int, ...]) -> str:
    """``matches[3].markets[0]``."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in loc).lstrip(".")


_FORM_BYTES = BODY_BYTES + 65_536  #: a digest, and what a form adds to it
_LIMITED = {"concurrency_limited": True}
_LISTED = 200  #: differences that the page lists; their counts are of all


class DifferenceRow(msgspec.Struct, frozen=True):
    """A difference, with its market in words."""

    difference: DifferenceView
    market: str


class MatchDifferences(msgspec.Struct, frozen=True):
    """The differences of one match. `match` is as the client named it if the service does not have it open
    for the tenant; `behind` as in `DifferenceView`, None without the client's seq."""

    match: str
    name: str
    behind: bool | None
    rows: list[DifferenceRow]


@get("/selfcheck")
async def selfcheck_form(request: SignedInRequest) -> Response[str]:
    """The form for a digest."""
    return page(request, "selfcheck.html", checked=None, sentences=[])


@post("/selfcheck", request_max_body_size=_FORM_BYTES, opt=_LIMITED)
async def selfcheck(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Compare a digest with what is on offer to the tenant at this moment. Nothing is changed or stored."""
    tenant = request.auth.tenant
    try:
        digest = await read_digest(await request.form())
        async with portal.store.autocommit() as tx:
            reach = await reach_of(tx, tenant, scopes.MARKETS)
        checked = await compare(portal.store, tenant.id, digest, finished_only=reach is Reach.FINISHED)
    except Invalid as refusal:
        wrong = in_words(texts_for(request), refusal)
        return page(request, "selfcheck.html", status=refusal.status, checked=None, sentences=wrong)
    return page(
        request,
        "selfcheck.html",
        checked=checked,
        kinds=[(kind.value, count) for kind in DifferenceKind if (count := checked.kinds.get(kind.value))],
        matches=await _by_match(request, portal, checked, reach),
        listed=min(_LISTED, checked.count),
        sentences=[],
    )


@get("/selfcheck.json", opt=_LIMITED)
async def selfcheck_example(request: SignedInRequest, portal: Portal) -> Response[bytes]:
    """The tenant's own open book as a digest, which equals it at this moment."""
    tenant = request.auth.tenant
    async with portal.store.autocommit() as tx:
        reach = await reach_of(tx, tenant, scopes.MARKETS)
    body = await expected_digest(portal.store, tenant.id, finished_only=reach is Reach.FINISHED)
    return Response(body, media_type="application/json", headers=download_headers("selfcheck.json"))


async def _by_match(
    request: SignedInRequest, portal: Portal, checked: SelfCheckView, reach: Reach
) -> list[MatchDifferences]:
    """The listed differences, by match. Names of matches that are not finished are not for those who see
    finished ones only."""
    listed = sorted(checked.differences[:_LISTED], key=_match_of)
    numbers = {number for each in listed if (number := match_number(each.match)) is not None}
    async with portal.store.snapshot() as tx:
        known = {} if reach is Reach.FINISHED else await listings.names_by_number(tx, numbers)
        names = await names_of(tx, texts_for(request), ((each.id, each.specifiers) for each in listed))
    return [
        _of_match(match, list(group), names, known.get(match_number(match) or 0))
        for match, group in groupby(listed, key=_match_of)
    ]


def _of_match(
    match: str, found: Sequence[DifferenceView], names: MarketNames, known: MatchName | None
) -> MatchDifferences:
    home, away = (known.home, known.away) if known else ("home", "away")
    rows = [DifferenceRow(each, names.name((each.id, each.specifiers), home, away)) for each in found]
    behind = None if found[0].behind is UNSET else bool(found[0].behind)
    return MatchDifferences(match, f"{home} – {away}" if known else "", behind, rows)


def _match_of(difference: DifferenceView) -> str:
    return difference.match
