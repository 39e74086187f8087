"""Soccer's matches as a source lists them, and the standings that follow from their results.

A match is known by its season, round and teams, so that another date, score or status is a change of it.
`day` is an ISO date and `time` a text, as the source writes both: local time, without a zone unless the text
has one; "" while unknown.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

#: `scheduled`: the source has no result yet. `replay`: it was annulled and is played again. `removed`: the
#: source lists it no longer.
SoccerStatus = Literal[
    "scheduled", "finished", "awarded", "postponed", "cancelled", "abandoned", "replay", "removed"
]
COUNTED: tuple[SoccerStatus, ...] = ("finished", "awarded")  #: with a result that stands
_MATCHDAY = re.compile(r"Matchday ([1-9][0-9]{0,2})\Z")
_WIN, _DRAW = 3, 1  #: points


class Goals(NamedTuple):
    """The goals of both teams."""

    home: int
    away: int


class SoccerMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match of a season. Scores are those at half time, after 90 minutes and after extra time, and of the
    penalty shoot-out, each with what came before, but the shoot-out; None while there are none."""

    id: int
    tournament_id: int
    season: str
    round: str
    home_id: int
    away_id: int
    group: str = ""
    day: str = ""
    time: str = ""
    status: SoccerStatus = "scheduled"
    half_time: Goals | None = None
    full_time: Goals | None = None
    extra_time: Goals | None = None
    penalties: Goals | None = None

    @property
    def key(self) -> tuple[str, int, int]:
        """What makes it this match of its season."""
        return self.round, self.home_id, self.away_id

    @property
    def matchday(self) -> int | None:
        """The number of its round in a league; None for other rounds."""
        found = _MATCHDAY.match(self.round)
        return int(found[1]) if found else None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A team's place in the table of its group ("" in a league)."""

    rank: int
    group: str
    team_id: int
    won: int
    drawn: int
    lost: int
    goals_for: int
    goals_against: int

    @property
    def played(self) -> int:
        return self.won + self.drawn + self.lost

    @property
    def goal_difference(self) -> int:
        return self.goals_for - self.goals_against

    @property
    def points(self) -> int:
        return _WIN * self.won + _DRAW * self.drawn

    @property
    def order(self) -> tuple[int, int, int]:
        """By which tables are sorted: points, then goal difference, then goals; more is better."""
        return self.points, self.goal_difference, self.goals_for


def standings(matches: Iterable[SoccerMatch]) -> list[Standing]:
    """The tables of one season's matches: group by group, best first.

    Only matches with a result that stands count, by the score after 90 minutes. Teams that are equal in
    points, goal difference and goals have the same rank, and are in order of their number: what competitions
    decide such ties by (matches between them, play-offs) is not known here, nor are deductions of points.
    """
    results: dict[tuple[str, int], list[Goals]] = {}
    for match in matches:
        if match.status == "removed":
            continue
        home = results.setdefault((match.group, match.home_id), [])
        away = results.setdefault((match.group, match.away_id), [])
        if match.status in COUNTED and match.full_time:
            scored, conceded = match.full_time
            home.append(Goals(scored, conceded))
            away.append(Goals(conceded, scored))
    rows = [_unranked(group, team, goals) for (group, team), goals in results.items()]
    rows.sort(key=lambda row: (row.group, *(-value for value in row.order), row.team_id))
    return _ranked(rows)


def _unranked(group: str, team: int, results: list[Goals]) -> Standing:
    """The row of a team with these results, each with its own goals first."""
    return Standing(
        rank=0,
        group=group,
        team_id=team,
        won=sum(own > other for own, other in results),
        drawn=sum(own == other for own, other in results),
        lost=sum(own < other for own, other in results),
        goals_for=sum(own for own, _ in results),
        goals_against=sum(other for _, other in results),
    )


def _ranked(rows: list[Standing]) -> list[Standing]:
    """The sorted rows with their ranks."""
    ranked: list[Standing] = []
    place = 0
    for row in rows:
        before = ranked[-1] if ranked else None
        place = place + 1 if before and before.group == row.group else 1
        level = before is not None and (before.group, before.order) == (row.group, row.order)
        ranked.append(msgspec.structs.replace(row, rank=before.rank if before and level else place))
    return ranked
