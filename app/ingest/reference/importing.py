"""Import of rows into the store: ids are assigned, links resolved, known entities updated."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from app.domain.entrants import MAX_FILE_NUMBER, MAX_STRENGTH, Competitor, Player
from app.ingest.reference.files import Row, RowKind, fault
from app.kit.errors import Field, Invalid
from app.store import audit, entrants
from app.store.audit import AuditRecord
from app.store.entrants import Entrant, EntrantTable, folded
from app.store.transaction import Tx

#: In this order, so that an entity has its id before a row links to it.
_TABLES: dict[RowKind, EntrantTable[Any]] = {
    "category": entrants.CATEGORIES,
    "team": entrants.TEAMS,
    "player": entrants.PLAYERS,
    "tournament": entrants.TOURNAMENTS,
    "soccer_competitor": entrants.SOCCER_COMPETITORS,
    "soccer_tournament": entrants.SOCCER_TOURNAMENTS,
}
_LINKED: dict[str, EntrantTable[Any]] = {
    "team_id": entrants.TEAMS,
    "team_ids": entrants.TEAMS,
    "category_id": entrants.CATEGORIES,
    "competitor_ids": entrants.SOCCER_COMPETITORS,
}


async def import_rows(tx: Tx, rows: Sequence[Row], *, by: str, now: int) -> Counter[str]:
    """Store the rows and write an audit row; returns the number of entities of each kind.

    Raises `Invalid` with every invalid row; then the transaction must not be committed.
    """
    counts: Counter[str] = Counter()
    for kind, table in _TABLES.items():
        of_kind = [row for row in rows if row.kind == kind]
        if of_kind:
            counts[kind] = await _import_kind(tx, table, of_kind)
    await audit.add(tx, AuditRecord(now, by, "reference.import", "", None, dict(counts)))
    return counts


async def _import_kind(tx: Tx, table: EntrantTable[Any], rows: Sequence[Row]) -> int:
    await entrants.lock(tx, table)
    numbered, faults = await _numbered(tx, table, rows)
    known: dict[int, Entrant] = {one.id: one for one in await entrants.by_ids(tx, table, numbered.keys())}
    links = await _linked(tx, rows)
    faults += [
        fault(row.place, f"Ids above {MAX_FILE_NUMBER} are assigned by the service.", number)
        for number, about in numbered.items()
        if number > MAX_FILE_NUMBER and number not in known
        for row in about
    ]
    for number, about in numbered.items():
        for row in about:
            try:
                known[number] = _merged(table, known.get(number), number, row, links)
            except msgspec.ValidationError as error:
                faults.append(fault(row.place, str(error)))
    if faults:
        raise Invalid(*faults)
    await entrants.put(tx, table, known.values())
    players = [one for one in known.values() if isinstance(one, Player) and one.id <= MAX_FILE_NUMBER]
    if accounts := [player.account for player in players if player.account]:
        await entrants.delete_own_players(tx, accounts)
    return len(known)


async def _numbered(
    tx: Tx, table: EntrantTable[Any], rows: Sequence[Row]
) -> tuple[dict[int, list[Row]], list[Field]]:
    """The rows by id: their own, that of the only entity of their name, or a new one."""
    by_name: dict[str, set[int]] = {}
    for one in await entrants.named(tx, table, [row.name for row in rows]):
        by_name.setdefault(folded(one.name), set()).add(one.id)
    for row in rows:
        if row.id is not None:
            by_name.setdefault(folded(row.name), set()).add(row.id)
    brought = [row.id for row in rows if row.id is not None and row.id <= MAX_FILE_NUMBER]
    following = max([await entrants.highest(tx, table), *brought]) + 1
    numbered: dict[int, list[Row]] = {}
    faults: list[Field] = []
    for row in rows:
        name = folded(row.name)
        if not name or (row.id is not None and not 0 < row.id < 2**31):
            faults.append(fault(row.place, "A name has letters, and an id is a positive number.", row.id))
        elif row.id is None and len(by_name.get(name, ())) > 1:
            faults.append(fault(row.place, f"More than one is called {row.name!r}: give the id.", row.name))
        elif row.id is None and name not in by_name:
            by_name[name] = {following}
            numbered[following] = [row]
            following += 1
        else:
            number = row.id if row.id is not None else next(iter(by_name[name]))
            numbered.setdefault(number, []).append(row)
    return numbered, faults


async def _linked(tx: Tx, rows: Iterable[Row]) -> dict[tuple[str, str], list[int]]:
    """Ids by field and folded name, for every name that the rows link to."""
    wanted: dict[str, set[str]] = {}
    for row in rows:
        for field, names in row.links.items():
            wanted.setdefault(field, set()).update([names] if isinstance(names, str) else names)
    found: dict[tuple[str, str], list[int]] = {}
    for field, names_of_field in wanted.items():
        for one in await entrants.named(tx, _LINKED[field], names_of_field):
            found.setdefault((field, folded(one.name)), []).append(one.id)
    return found


def _merged(
    table: EntrantTable[Any],
    known: Entrant | None,
    number: int,
    row: Row,
    links: dict[tuple[str, str], list[int]],
) -> Entrant:
    """The known entity updated with the row's fields; raises `msgspec.ValidationError`."""
    unknown = row.fields.keys() - set(table.type.__struct_fields__)
    if unknown:
        raise msgspec.ValidationError(f"unknown: {', '.join(sorted(unknown))}")
    updated = row.fields | {field: _numbers(field, names, links) for field, names in row.links.items()}
    fields = (msgspec.to_builtins(known) if known else {}) | updated | {"id": number, "name": row.name}
    value: Entrant = msgspec.convert(fields, table.type)
    if isinstance(value, Competitor) and not 0 <= value.strength <= MAX_STRENGTH:
        raise msgspec.ValidationError(f"strength: expected 0 to {MAX_STRENGTH:.0f}")
    return value


def _numbers(field: str, names: str | list[str], links: dict[tuple[str, str], list[int]]) -> int | list[int]:
    if isinstance(names, str):
        return _only(field, names, links)
    return sorted({_only(field, name, links) for name in names})


def _only(field: str, name: str, links: dict[tuple[str, str], list[int]]) -> int:
    found = links.get((field, folded(name)), [])
    if len(found) != 1:
        many = "nobody" if not found else "more than one"
        raise msgspec.ValidationError(f"{field}: {many} is called {name!r}")
    return found[0]
