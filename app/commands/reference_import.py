"""Import of reference prices: what bookmakers and exchanges offer on our matches."""

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, NamedTuple
from uuid import UUID

import msgspec
from msgspec import Meta

from app.commands.match_commands import Moment, Number
from app.domain.catalogue import load
from app.kit.errors import Field, Invalid, NotFound
from app.kit.names import NAME
from app.store import audit, matches, reference_prices
from app.store.audit import AuditRecord
from app.store.reference_prices import ReferencePrice
from app.store.transaction import Tx
from app.trading.registry import RULES
from app.trading.rules import Specifiers, parse_specifiers

Location = tuple[str | int, ...]  #: of a row, as errors name it
MOST_ROWS = 1000  #: of one import


class ImportedPrice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source's decimal odds of one market, set `at` (Unix ms). `match` is its id (a UUID, or
    `od:match:<number>`); `market_id` and `specifiers` name the market as in the feed."""

    source: Annotated[str, Meta(min_length=1, max_length=60, pattern=NAME)]
    match: Annotated[str, Meta(min_length=1, max_length=60)]
    market_id: Number = 1
    specifiers: Annotated[str, Meta(max_length=200)] = ""
    odds: Annotated[float, Meta(gt=1, le=10_000)]
    at: Moment


class ReferenceCounts(msgspec.Struct, frozen=True):
    """How many prices were new, or known already; how many matches have new ones."""

    new: int
    unchanged: int
    matches: int


class ReferencesImported(NamedTuple):
    """The counts of an import, and the matches that have new prices."""

    counts: ReferenceCounts
    match_ids: tuple[UUID, ...]


async def import_references(
    tx: Tx, rows: Sequence[tuple[Location, ImportedPrice]], *, by: str, now: int
) -> ReferencesImported:
    """Store reference prices, each with its location in the request or file. Once that is committed the
    matches must be refreshed (`match_references.refresh`); until then they are due.

    Raises `Invalid` with every invalid row; nothing may be committed then.
    """
    prices = await _prices(tx, rows, by, now)
    known = await reference_prices.known_odds(tx, prices)
    contradictions = [
        Field((*rows[at][0], "odds"), f"At this time the source had {odds}.", "contradiction", given)
        for at, odds in known.items()
        if odds != (given := prices[at].odds)
    ]
    if contradictions:
        raise Invalid(*contradictions)
    added = await reference_prices.add(tx, prices, by=by, now=now)
    total = sum(added.values())
    counts = ReferenceCounts(total, len(rows) - total, len(added))
    if added:
        await reference_prices.mark_due(tx, list(added), now)
        await audit.add(tx, AuditRecord(now, by, "references.import", "", None, msgspec.to_builtins(counts)))
    return ReferencesImported(counts, tuple(added))


async def _prices(
    tx: Tx, rows: Sequence[tuple[Location, ImportedPrice]], by: str, now: int
) -> list[ReferencePrice]:
    """The prices of the rows."""
    found: dict[str, UUID] = {}
    prices: list[ReferencePrice] = []
    faults: list[Field] = []
    seen: set[object] = set()
    for place, row in rows:
        try:
            if row.match not in found:
                found[row.match] = (await matches.by_ref(tx, row.match, parameter=("", "match"))).id
            price = ReferencePrice(
                found[row.match], row.source, row.market_id, _market(row), row.at, row.odds, now, by
            )
        except Invalid as error:
            faults += [msgspec.structs.replace(one, loc=(*place, one.loc[-1])) for one in error.fields]
            continue
        except NotFound as error:
            faults.append(Field((*place, "match"), error.detail, "no_match", row.match))
            continue
        if row.at > now:
            faults.append(Field((*place, "at"), "It lies in the future.", "in_the_future", row.at))
        if price.key in seen:
            faults.append(Field(place, "Source, market and time occur twice.", "repeated_price", None))
        seen.add(price.key)
        prices.append(price)
    if faults:
        raise Invalid(*faults)
    return prices


def _impossible(specifiers: Specifiers) -> str:
    """Why no market has these specifiers, whatever its type; "" if one may."""
    if specifiers.team not in ("", "home", "away"):
        return "`team` is home, the match's first team, or away."
    if min(specifiers.map, specifiers.round, specifiers.target, specifiers.half) < 0:
        return "Maps, rounds and halves are counted from 1."
    if not (isfinite(specifiers.threshold) and isfinite(specifiers.handicap)):
        return "A line is a number."
    return ""


def _market(row: ImportedPrice) -> str:
    """The canonical specifiers of the row's market; raises `Invalid`."""
    if row.market_id not in RULES:
        raise Invalid(Field(("market_id",), "No such market type.", "unknown_market", row.market_id))
    wanted = {each.name for each in load().by_id[row.market_id].specifiers}
    try:
        specifiers = parse_specifiers(row.specifiers)
    except ValueError as error:
        raise Invalid(Field(("specifiers",), str(error), "value_error", row.specifiers)) from error
    if wrong := _impossible(specifiers):
        raise Invalid(Field(("specifiers",), wrong, "specifiers", row.specifiers))
    text = specifiers.text
    named = {part.partition("=")[0] for part in text.split("|") if part}
    if named != wanted:
        what = f"Markets of this type have the specifiers {', '.join(sorted(wanted)) or 'none'}."
        raise Invalid(Field(("specifiers",), what, "specifiers", row.specifiers))
    return text
