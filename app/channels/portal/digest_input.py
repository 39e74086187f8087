"""A digest of a client's book as people submit it: a file or a text, decoded, with its mistakes in words."""

import re

import msgspec
from litestar.datastructures import FormMultiDict, UploadFile

from app.access.selfcheck import BODY_BYTES
from app.kit.errors import Field, Invalid
from app.kit.threads import run_in_thread
from app.pages.texts import Texts
from app.wire.views.selfcheck import Digest

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
