"""A season of openfootball's JSON: ``{"name": "… 2025/26", "matches": [{"date", "team1", "team2", …}]}``."""

import re
from typing import Any

import msgspec

from app.ingest.reference.rows import Row, country, fault
from app.kit.control_characters import contains_control_characters
from app.kit.errors import Invalid

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


class Game(msgspec.Struct, frozen=True):
    team1: str
    team2: str
    date: str = ""


class SeasonFile(msgspec.Struct, frozen=True):
    name: str
    matches: list[Game]


def read(name: str, body: bytes) -> list[Row]:
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
    return [*rows, _tournament(name, season, teams, home)]


def _tournament(file: str, season: SeasonFile, teams: list[str], home: tuple[str, str] | None) -> Row:
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
        fields["category"] = country(*home)
    name = season.name[: year.start()] if year else season.name
    return Row("soccer_tournament", name, fields, (file, "name"), links={"competitor_ids": teams})
