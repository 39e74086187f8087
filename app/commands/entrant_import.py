"""Reference data from files: soccer profiles, and the teams, players and tournaments of Counter-Strike.

    a file → rows → `import_rows`: ids are assigned, links resolved, known entities updated; one transaction

`season_rows` makes rows of a season (`soccer_season`). `read_profiles` reads profiles as JSON lines, one
object a line, of a `kind`:
`docs/imports.md` describes the formats. A row has a kind and the fields of one entity, identified by its
`id`, or else by its name; fields that it leaves out stay unchanged. If one row is invalid, nothing of the
command is imported.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from app.commands.soccer_season import SeasonFile, import_season
from app.domain.entrants import MAX_FILE_NUMBER, MAX_STRENGTH, Competitor, Country, Player
from app.kit.control_characters import contains_control_characters
from app.kit.errors import Field, Invalid
from app.kit.names import NAME, explained
from app.store import audit, entrants
from app.store.audit import AuditRecord
from app.store.entrants import Entrant, EntrantTable, folded
from app.store.transaction import Tx

RowKind = Literal["category", "tournament", "team", "player", "soccer_competitor", "soccer_tournament"]
_FILE = re.compile(r"(?:^|[-/])([a-z]{2,3})\.\d")
#: Countries by the letters at the beginning of the project's file names.
_COUNTRIES = {
    "at": ("Austria", "AUT"),
    "be": ("Belgium", "BEL"),
    "br": ("Brazil", "BRA"),
    "ch": ("Switzerland", "SUI"),
    "cz": ("Czechia", "CZE"),
    "de": ("Germany", "GER"),
    "en": ("England", "ENG"),
    "es": ("Spain", "ESP"),
    "fr": ("France", "FRA"),
    "gr": ("Greece", "GRE"),
    "it": ("Italy", "ITA"),
    "mx": ("Mexico", "MEX"),
    "nl": ("Netherlands", "NED"),
    "pt": ("Portugal", "POR"),
    "sco": ("Scotland", "SCO"),
    "tr": ("Turkey", "TUR"),
}
T = TypeVar("T")
Place = tuple[str | int, ...]  #: of a line, as errors name it
CS2_KINDS: dict[str, RowKind] = {
    "category": "category",
    "tournament": "tournament",
    "team": "team",
    "player": "player",
}
SOCCER_KINDS: dict[str, RowKind] = {"competitor": "soccer_competitor", "tournament": "soccer_tournament"}
#: Fields with names of other rows, and the field of ids for each.
_LINKS: dict[RowKind, dict[str, str]] = {
    "player": {"team": "team_id"},
    "tournament": {"category": "category_id", "teams": "team_ids"},
    "soccer_tournament": {"competitors": "competitor_ids"},
}
#: What files call the fields of ids.
NAMES_OF_LINKS = {field: name for links in _LINKS.values() for name, field in links.items()}
#: Fields of entities that rows do not have: numbers nobody has checked, and what is joined when one is read.
_NOT_IN_ROWS = {*NAMES_OF_LINKS, "players", "competitors"}
#: In this order, so that an entity has its id before a row links to it.
TABLES: dict[RowKind, EntrantTable[Any]] = {
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


class Row(msgspec.Struct, frozen=True):
    """One entity in a file. `fields` have the domain's names, except that `links` holds the names for a field
    of ids (a player's team, a tournament's teams). `place` is its position in the file."""

    kind: RowKind
    name: str
    fields: dict[str, Any]
    place: tuple[str | int, ...]
    id: int | None = None
    links: dict[str, str | list[str]] = {}


def fault(place: tuple[str | int, ...], what: str, given: Any = None) -> Field:
    return Field(place, what, "value_error", given)


def season_rows(file: str, season: SeasonFile) -> list[Row]:
    """The season's competitors and its tournament. The country comes from the name of its `file`; teams of a
    file without one have no country."""
    found = _FILE.search(file)
    home = _COUNTRIES.get(found[1]) if found else None
    fields: dict[str, Any] = {"country": home[0], "country_code": home[1]} if home else {}
    rows = [Row("soccer_competitor", team, {"gender": "men"} | fields, (file, team)) for team in season.teams]
    return [*rows, _season_tournament(file, season, home)]


def _season_tournament(file: str, season: SeasonFile, home: tuple[str, str] | None) -> Row:
    days = sorted(game.date.isoformat() for game in season.matches if game.date)
    fields: dict[str, Any] = {
        "gender": "men",
        "season": {
            "name": season.season,
            "starts_on": days[0] if days else "",
            "ends_on": days[-1] if days else "",
        },
    }
    if home:
        fields["category"] = msgspec.to_builtins(Country(*home))
    return Row(
        "soccer_tournament", season.tournament, fields, (file, "name"), links={"competitor_ids": season.teams}
    )


class Head(msgspec.Struct, frozen=True):
    """The fields that every line must have."""

    kind: str
    name: Annotated[str, Meta(pattern=NAME)]
    id: int | None = None


def read_profiles(file: str, body: bytes, kinds: dict[str, RowKind]) -> list[Row]:
    """The rows of a file without blank lines; raises `Invalid` with every invalid line."""
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    return read_lines(file, body, lambda place, line: row_of(place, decode(line), kinds))


def read_lines(file: str, body: bytes, read_line: Callable[[Place, bytes], T]) -> list[T]:
    """`read_line` of each line of a file that is not blank; raises `Invalid` with every invalid line."""
    found: list[T] = []
    faults: list[Field] = []
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(read_line((file, number), line))
        except (msgspec.DecodeError, RecursionError) as error:
            faults.append(fault((file, number), explained(str(error))))
    if faults:
        raise Invalid(*faults)
    return found


def row_of(place: Place, given: Mapping[str, Any], kinds: Mapping[str, RowKind]) -> Row:
    """The row of an object with `kind`, `name` and the fields of an entity; raises
    `msgspec.ValidationError`."""
    head, fields = msgspec.convert(given, Head), dict(given)
    if contains_control_characters(fields):
        raise msgspec.ValidationError("A text in it holds a control character")
    if head.kind not in kinds:
        raise msgspec.ValidationError(f"`kind` is one of {', '.join(kinds)}, not {head.kind!r}")
    kind = kinds[head.kind]
    links = {to: fields.pop(name) for name, to in _LINKS.get(kind, {}).items() if name in fields}
    for name in ("kind", "name", "id"):
        fields.pop(name, None)
    linked = msgspec.convert(links, dict[str, str | list[str]])
    return Row(kind, head.name.strip(), fields, place, head.id, linked)


async def import_rows(
    tx: Tx, rows: Sequence[Row], seasons: Sequence[SeasonFile] = (), *, by: str, now: int
) -> Counter[str]:
    """Store the rows, and the matches of soccer's `seasons`, whose teams and tournaments are among the rows;
    write an audit row. Returns the number of entities of each kind, and (`<kind>_changed`) of those that
    are new or differ.

    Raises `Invalid` with every invalid row; then the transaction must not be committed.
    """
    counts: Counter[str] = Counter()
    for kind, table in TABLES.items():
        of_kind = [row for row in rows if row.kind == kind]
        if of_kind:
            counts[kind], counts[f"{kind}_changed"] = await _import_kind(tx, table, of_kind)
    for season in seasons:
        counts.update(await _import_matches(tx, season))  # `+=` would drop those that are 0
    await audit.add(tx, AuditRecord(now, by, "reference.import", "", None, dict(counts)))
    return counts


async def _import_matches(tx: Tx, season: SeasonFile) -> Counter[str]:
    """The matches of a season whose rows are stored: no two entities have one of their names."""
    teams = await entrants.named(tx, entrants.SOCCER_COMPETITORS, season.teams)
    [tournament] = await entrants.named(tx, entrants.SOCCER_TOURNAMENTS, [season.tournament])
    return await import_season(tx, season, tournament.id, {folded(one.name): one.id for one in teams})


async def _import_kind(tx: Tx, table: EntrantTable[Any], rows: Sequence[Row]) -> tuple[int, int]:
    """Store the rows of one kind; how many entities they are about, and how many of those changed."""
    await entrants.lock(tx, table)
    numbered, faults = await _numbered(tx, table, rows)
    known: dict[int, Entrant] = {one.id: one for one in await entrants.by_ids(tx, table, numbered.keys())}
    stored = dict(known)
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
    changed = [one for one in known.values() if stored.get(one.id) != one]
    await entrants.put(tx, table, changed)
    players = [one for one in known.values() if isinstance(one, Player) and one.id <= MAX_FILE_NUMBER]
    if accounts := [player.account for player in players if player.account]:
        await entrants.delete_own_players(tx, accounts)
    return len(known), len(changed)


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
    unknown = row.fields.keys() - (set(table.type.__struct_fields__) - _NOT_IN_ROWS)
    if unknown:
        raise msgspec.ValidationError(f"unknown: {', '.join(sorted(unknown))}")
    updated = row.fields | {field: _numbers(field, names, links) for field, names in row.links.items()}
    fields = (msgspec.to_builtins(known) if known else {}) | updated | {"id": number, "name": row.name}
    value: Entrant = msgspec.convert(fields, table.type)
    if isinstance(value, Competitor) and not 0 <= value.strength <= MAX_STRENGTH:
        raise msgspec.ValidationError(f"strength: expected 0 to {MAX_STRENGTH:.0f}")
    if isinstance(value, Player) and not 0 <= value.account < 2**32:
        raise msgspec.ValidationError("account: expected a 32-bit number")
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
