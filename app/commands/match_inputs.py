"""What a transaction on a match was given, so that everything it published can be computed again; pure.

Each transaction that writes a match stores one input: when it was, by which coefficients and settings it
priced, and its cause. What is computed from a cause is not stored: the facts of lines, the effect of a
command. What cannot be computed is: fields of the state that were read from elsewhere (ratings, players'
earlier kills, reference prices).

The structs are stored as JSON by field name and tag: fields and tags are never renamed.
"""

import zlib
from collections.abc import Sequence
from typing import cast

import msgspec

from app.domain import changes as c
from app.domain.facts import (
    DataComplete,
    DataLost,
    EndOverdue,
    RivalSeen,
    RivalsGone,
    SilenceEnded,
    SourceChanged,
)
from app.domain.match import Match
from app.kit.version import VERSION
from app.trading import coefficients
from app.trading.pricing import PricingConfig

#: Facts that no line reports.
OwnFact = DataComplete | DataLost | EndOverdue | RivalSeen | RivalsGone | SilenceEnded | SourceChanged
#: Fields of a state, as JSON; null where one has its default, which the state's JSON omits.
Fields = dict[str, msgspec.Raw]
_DEFAULT = msgspec.Raw(b"null")
_COMPRESSION = 1  #: of lines, mostly: more costs time in every transaction and saves little


class Part(msgspec.Struct, frozen=True, array_like=True):
    """New lines of one batch, as the parser reads them: those that say something, and of the others, chat and
    addresses among them, their times (`cs2log.Reading.said`). `since` is when the batch before arrived,
    `arrived_at` when this one did (Unix ms)."""

    lines: str
    since: int
    arrived_at: int


class Created(msgspec.Struct, frozen=True, tag="created"):
    """The match was created."""

    match: Match


class Lines(msgspec.Struct, frozen=True, tag="lines", omit_defaults=True):
    """Lines of the log were applied, after `facts`, which no line reports. `has_gap`: bytes were missing
    before; `arrived_at`: when the newest lines arrived (Unix ms)."""

    parts: tuple[Part, ...]
    arrived_at: int
    facts: tuple[OwnFact, ...] = ()
    has_gap: bool = False


class Happened(msgspec.Struct, frozen=True, tag="facts"):
    """Facts that time or an operator's decision led to."""

    facts: tuple[OwnFact, ...]


class Commanded(msgspec.Struct, frozen=True, tag="command"):
    """An operator's command, as JSON."""

    command: msgspec.Raw


class TimePassed(msgspec.Struct, frozen=True, tag="time"):
    """The prices of a live round were looked at again."""


class Given(msgspec.Struct, frozen=True, tag="given", omit_defaults=True):
    """The state was given these `fields` by something that is not computed again, with these changes.
    `reason`: every market was suspended for it, and nothing was priced."""

    fields: Fields
    changes: tuple[c.AnyChange, ...] = ()
    reason: str | None = None


Cause = Created | Lines | Happened | Commanded | TimePassed | Given


class MatchInput(msgspec.Struct, frozen=True, omit_defaults=True):
    """The input of one transaction at `at` (Unix ms). `reads` are fields of the state that it read from
    elsewhere. `after_seq` is the number of the match's last feed envelope before it, `rows` how many rows of
    the change log it wrote: both show where a process of a version without inputs wrote between them.
    `version` is that of the program, `coefficients` the hash of the coefficients."""

    at: int
    cause: Cause
    pricing: PricingConfig
    after_seq: int = 0
    rows: int = 0
    may_price: bool = True
    reads: Fields = {}
    version: str = VERSION
    coefficients: str = ""


def input_of(
    before: Match | None,
    cause: Cause,
    *,
    now: int,
    pricing: PricingConfig,
    may_price: bool = True,
    computed: Match | None = None,
    after: Match | None = None,
) -> MatchInput:
    """The input of a transaction; what the state `after` has and the one that was `computed` from its cause
    has not was read from elsewhere."""
    return MatchInput(
        at=now,
        cause=cause,
        pricing=pricing,
        after_seq=before.last_seq if before else 0,
        may_price=may_price,
        reads=fields_between(computed, after) if computed and after and computed is not after else {},
        coefficients=coefficients.version(),
    )


def given(
    before: Match | None, after: Match, changes: Sequence[c.MatchChange], reason: str | None = None
) -> Cause:
    """The cause of a transaction whose state is not computed again; of a new match, that it was created."""
    if before is None:
        return Created(after)
    recorded = cast("tuple[c.AnyChange, ...]", tuple(changes))
    return Given(fields_between(before, after), recorded, reason)


def fields_between(before: Match, after: Match) -> Fields:
    """The fields by which `after` differs."""
    if before == after:
        return {}
    had, has = _fields(before), _fields(after)
    names = sorted(had.keys() | has.keys())
    pairs = {name: (had.get(name, _DEFAULT), has.get(name, _DEFAULT)) for name in names}
    return {name: new for name, (old, new) in pairs.items() if bytes(old) != bytes(new)}


def with_fields(match: Match, fields: Fields) -> Match:
    """The match with these fields."""
    if not fields:
        return match
    found = {**_fields(match), **fields}
    return _decode_match(_encode({name: value for name, value in found.items() if bytes(value) != b"null"}))


def _fields(match: Match) -> dict[str, msgspec.Raw]:
    return _decode_fields(_encode(match))


_encode = msgspec.json.Encoder().encode
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_match = msgspec.json.Decoder(Match).decode
_decode = msgspec.json.Decoder(MatchInput).decode


def pack(given: MatchInput) -> bytes:
    """An input as it is stored."""
    return zlib.compress(_encode(given), _COMPRESSION)


def unpack(body: bytes) -> MatchInput:
    return _decode(zlib.decompress(body))
