"""Expected errors, one small tree; raised anywhere, rendered in `http` (`errors`; for upgrades `listeners`).

    Refusal                      status, detail
    ├── BadRequest          400  contradictory headers, unknown locale
    ├── Unauthenticated     401  no key
    ├── Forbidden           403  key invalid or deactivated, scope or sport missing
    ├── NotFound            404
    ├── NotAcceptable       406
    ├── Conflict            409  the state forbids it, recovery in flight, no vhost yet
    ├── RangeNotSatisfiable 416  a part of a file that it does not have; `size`
    ├── Invalid             422  a field is wrong; `fields` lists which
    ├── TooManyRequests     429  `retry_after` in whole seconds
    └── Unavailable         503  a dependency is down; `retry_after`

`detail` is a sentence that says what to do. Array-form details exist for field validation only. Pages for
people say the same in their reader's language: by `code`, with `values` filled in; of a field by its `type`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import msgspec


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    """One invalid field: where (`loc`), what is wrong (`msg`), a stable code for it (`type`)."""

    loc: tuple[str | int, ...]
    msg: str
    type: str
    input: Any = None
    ctx: dict[str, Any] | None = None


def with_others(found: Sequence[Field], others: Iterable[Field]) -> list[Field]:
    """The fields that are `found` wrong, and those of `others` at other places."""
    named = {field.loc for field in found}
    return [*found, *(field for field in others if field.loc not in named)]


class Refusal(Exception):
    """The service understood the request and refuses it. Subclasses carry their HTTP status. `code` is a
    stable name of the reason, that of the class if none is given; `values` are what its sentence names."""

    status: ClassVar[int] = 500

    def __init__(
        self, detail: str, *, retry_after: int | None = None, code: str = "", **values: object
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after
        self.code = code or type(self).__name__
        self.values = values


class BadRequest(Refusal):
    status = 400


class Unauthenticated(Refusal):
    status = 401


class Forbidden(Refusal):
    status = 403


class NotFound(Refusal):
    status = 404


class NotAcceptable(Refusal):
    status = 406


class Conflict(Refusal):
    status = 409


class RangeNotSatisfiable(Refusal):
    """None of the requested bytes exist: the file has `size`."""

    status = 416

    def __init__(self, detail: str, *, size: int) -> None:
        super().__init__(detail)
        self.size = size


class Invalid(Refusal):
    """Field validation failed; the body's `detail` is the array of `fields`."""

    status = 422

    def __init__(self, *fields: Field) -> None:
        super().__init__("; ".join(f"{'.'.join(map(str, f.loc))}: {f.msg}" for f in fields))
        self.fields = fields


class TooManyRequests(Refusal):
    status = 429


class Unavailable(Refusal):
    status = 503
