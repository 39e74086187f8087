"""Seasons of soccer as openfootball publishes them (JSON): who plays, when, and how it ended.

    {"name": "… 2025/26", "matches": [{"round", "date", "time", "team1", "team2", "score": {"ht", "ft"}}, …]}

A file is the whole season: `import_season` gives a match that it no longer lists the status `removed`. A
match keeps its number as long as its round and its teams stay the same.
"""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date as Day
from itertools import count
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from app.domain.soccer import Goals, SoccerMatch, SoccerStatus
from app.kit.control_characters import contains_control_characters
from app.kit.errors import Field, Invalid
from app.kit.names import NAME, Name
from app.store import soccer_matches
from app.store.entrants import folded
from app.store.transaction import Tx

_SEASON = re.compile(r"\s+(\d{4}(?:[/-]\d{2,4})?)$")
#: The project's statuses beside a score, in lower case.
_STATUSES: dict[str, SoccerStatus] = {
    "awarded": "awarded",
    "postponed": "postponed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "abandoned": "abandoned",
    "replay": "replay",
}
_Goals = Annotated[tuple[Annotated[int, Meta(ge=0, le=999)], ...], Meta(min_length=2, max_length=2)]
Text = Annotated[str, Meta(max_length=120)]


class Score(msgspec.Struct, frozen=True):
    """Goals at half time, after 90 minutes, after extra time, and of the penalty shoot-out."""

    ht: _Goals | None = None
    ft: _Goals | None = None
    et: _Goals | None = None
    p: _Goals | None = None


class Game(msgspec.Struct, frozen=True):
    """A match of the file; `team1` is at home."""

    team1: Name
    team2: Name
    date: Day | None = None
    time: Text = ""
    round: Text = ""
    group: Text = ""
    score: Score | None = None
    status: Text = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it this match of its season."""
        return self.round, folded(self.team1), folded(self.team2)


class SeasonFile(msgspec.Struct, frozen=True):
    """A season: `name` ends in its years."""

    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=NAME)]
    matches: tuple[Game, ...]

    @property
    def tournament(self) -> str:
        """The name of the tournament: without the years."""
        year = _SEASON.search(self.name)
        return self.name[: year.start()] if year else self.name

    @property
    def season(self) -> str:
        """The name of the season: the years."""
        year = _SEASON.search(self.name)
        return year[1] if year else self.name

    @property
    def teams(self) -> list[str]:
        """The names of all who play, each once."""
        return sorted({team for game in self.matches for team in (game.team1, game.team2)})


def read_season_file(file: str, body: bytes) -> SeasonFile:
    """The season in a file of that name; raises `Invalid` with every match that cannot be stored."""
    try:
        season = msgspec.json.decode(body, type=SeasonFile)
    except (msgspec.DecodeError, RecursionError) as error:
        what = f"This is no season of openfootball's: {error}"
        raise Invalid(Field((file,), what, "value_error")) from error
    if faults := season_faults(file, season):
        raise Invalid(*faults)
    return season


def season_faults(file: str, season: SeasonFile) -> list[Field]:
    """Why matches of a season cannot be stored, each by file and number, counted from 0."""
    if contains_control_characters(msgspec.to_builtins(season)):
        return [Field((file,), "A text in it holds a control character.", "value_error")]
    faults = []
    seen: set[tuple[str, str, str]] = set()
    for number, game in enumerate(season.matches):
        place = (file, "matches", number)
        if folded(game.team1) == folded(game.team2):
            what = "A team does not play against itself."
            faults.append(Field((*place, "team2"), what, "same_team", game.team2))
        if game.key in seen:
            what = f"{game.team1} - {game.team2} occurs twice in the round {game.round!r}."
            faults.append(Field(place, what, "repeated_match"))
        if game.status and game.status.lower() not in _STATUSES:
            what = f"A status is one of {', '.join(sorted(_STATUSES))}, or absent."
            faults.append(Field((*place, "status"), what, "unknown_status", game.status))
        seen.add(game.key)
    return faults


async def import_season(
    tx: Tx, season: SeasonFile, tournament: int, teams: Mapping[str, int]
) -> Counter[str]:
    """Store the season's matches; `teams` are the numbers of its teams by folded name. Returns the number of
    its matches, of those that are new or changed, and of those that it no longer lists.

    Imports must be serialised by the caller (`entrants.lock`).
    """
    known = {match.key: match for match in await soccer_matches.of_season(tx, tournament, season.season)}
    following = count(await soccer_matches.highest(tx) + 1)
    listed: dict[tuple[str, int, int], SoccerMatch] = {}
    for game in season.matches:
        key = game.round, teams[folded(game.team1)], teams[folded(game.team2)]
        number = known[key].id if key in known else next(following)
        listed[key] = _match(game, number, tournament, season.season, key)
    gone = {
        key: replace(match, status="removed")
        for key, match in known.items()
        if key not in listed and match.status != "removed"
    }
    changed = [match for key, match in listed.items() if known.get(key) != match]
    await soccer_matches.put(tx, [*changed, *gone.values()])
    return Counter(
        soccer_match=len(listed), soccer_match_changed=len(changed), soccer_match_removed=len(gone)
    )


def _match(game: Game, number: int, tournament: int, season: str, key: tuple[str, int, int]) -> SoccerMatch:
    score = game.score or Score()
    scores: dict[str, Any] = {
        "half_time": score.ht,
        "full_time": score.ft,
        "extra_time": score.et,
        "penalties": score.p,
    }
    return SoccerMatch(
        id=number,
        tournament_id=tournament,
        season=season,
        round=key[0],
        home_id=key[1],
        away_id=key[2],
        group=game.group,
        day=game.date.isoformat() if game.date else "",
        time=game.time,
        status=_status(game),
        **{name: Goals(*goals) if goals else None for name, goals in scores.items()},
    )


def _status(game: Game) -> SoccerStatus:
    if game.status:
        return _STATUSES[game.status.lower()]
    return "finished" if game.score and game.score.ft else "scheduled"
