"""Files of reference data, parsed into rows; pure.

`read_season` reads a season of openfootball's JSON, ``{"name": "… 2025/26", "matches": [{"date", "team1",
"team2", …}]}``. `read_profiles` reads profiles as JSON lines, one object a line, of a `kind`:
`docs/imports.md` describes the formats.
"""

import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import msgspec

from app.domain.soccer import Country
from app.kit.control_characters import contains_control_characters
from app.kit.errors import Field, Invalid

RowKind = Literal["category", "tournament", "team", "player", "soccer_competitor", "soccer_tournament"]
_SEASON = re.compile(r"\s+(\d{4}(?:[/-]\d{2,4})?)$")
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


class Game(msgspec.Struct, frozen=True):
    team1: str
    team2: str
    date: str = ""


class SeasonFile(msgspec.Struct, frozen=True):
    name: str
    matches: list[Game]


def read_season(name: str, body: bytes) -> list[Row]:
    """The season's competitors and its tournament. The country comes from the file's `name`; teams of a file
    without one have no country. Raises `Invalid`."""
    try:
        season = msgspec.json.decode(body, type=SeasonFile)
    except msgspec.DecodeError as error:
        raise Invalid(fault((name,), f"This is no season of openfootball's: {error}")) from error
    if contains_control_characters(msgspec.to_builtins(season)):
        raise Invalid(fault((name,), "A text in it holds a control character."))
    found = _FILE.search(name)
    home = _COUNTRIES.get(found[1]) if found else None
    fields: dict[str, Any] = {"country": home[0], "country_code": home[1]} if home else {}
    teams = sorted({team for game in season.matches for team in (game.team1, game.team2)})
    rows = [Row("soccer_competitor", team, {"gender": "men"} | fields, (name, team)) for team in teams]
    return [*rows, _season_tournament(name, season, teams, home)]


def _season_tournament(file: str, season: SeasonFile, teams: list[str], home: tuple[str, str] | None) -> Row:
    year = _SEASON.search(season.name)
    dates = sorted(game.date for game in season.matches if game.date)
    fields: dict[str, Any] = {
        "gender": "men",
        "season": {
            "name": year[1] if year else season.name,
            "starts_on": dates[0] if dates else "",
            "ends_on": dates[-1] if dates else "",
        },
    }
    if home:
        fields["category"] = msgspec.to_builtins(Country(*home))
    name = season.name[: year.start()] if year else season.name
    return Row("soccer_tournament", name, fields, (file, "name"), links={"competitor_ids": teams})


class Head(msgspec.Struct, frozen=True):
    """The fields that every line must have."""

    kind: str
    name: str
    id: int | None = None


def read_profiles(file: str, body: bytes, kinds: dict[str, RowKind]) -> list[Row]:
    """The rows of a file without blank lines; raises `Invalid` with every invalid line."""
    return read_lines(file, body, lambda place, line: _row(place, line, kinds))


def read_lines(file: str, body: bytes, read_line: Callable[[Place, bytes], T]) -> list[T]:
    """`read_line` of each line of a file that is not blank; raises `Invalid` with every invalid line."""
    found: list[T] = []
    faults: list[Field] = []
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(read_line((file, number), line))
        except msgspec.DecodeError as error:
            faults.append(fault((file, number), str(error)))
    if faults:
        raise Invalid(*faults)
    return found


def _row(place: Place, line: bytes, kinds: dict[str, RowKind]) -> Row:
    head = msgspec.json.decode(line, type=Head)
    fields: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
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
