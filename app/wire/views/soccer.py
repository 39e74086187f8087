"""Soccer's profiles, matches and standings as JSON. URNs begin with the prefix of the data's provider;
unknown values are null."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import asdict

from app.domain.entrants import SoccerCompetitor, SoccerTournament
from app.domain.soccer import Goals, SoccerMatch, SoccerStatus, Standing
from app.wire.views.entrants import NamedView


class SoccerCompetitorView(msgspec.Struct, frozen=True, kw_only=True):
    """A club or a national team; `icon_path` is its crest or flag."""

    id: str
    external_id: int
    name: str
    country: str | None
    country_code: str | None
    abbreviation: str | None
    is_national: bool
    gender: str | None
    icon_path: str | None


class CountryView(msgspec.Struct, frozen=True):
    """The category of a tournament."""

    name: str
    country_code: str | None


class SeasonView(msgspec.Struct, frozen=True):
    """The latest season, from the first day to the last."""

    name: str
    starts_on: str | None
    ends_on: str | None


class SoccerTournamentView(msgspec.Struct, frozen=True, kw_only=True):
    """A competition, and the `parent` that it is part of. `risk_tier` 1 weighs the most, 0 is not rated."""

    id: str
    external_id: int
    name: str
    parent: str | None
    gender: str | None
    category: CountryView | None
    season: SeasonView | None
    risk_tier: int
    icon_path: str | None


class SoccerTournamentDetailView(SoccerTournamentView, frozen=True, kw_only=True):
    """A competition and its participants."""

    competitors: tuple[NamedView, ...]


def soccer_competitor_view(found: SoccerCompetitor, prefix: str) -> SoccerCompetitorView:
    return SoccerCompetitorView(
        id=_urn(prefix, "competitor", found.id),
        external_id=found.id,
        name=found.name,
        country=found.country or None,
        country_code=found.country_code or None,
        abbreviation=found.abbreviation or None,
        is_national=found.is_national,
        gender=found.gender or None,
        icon_path=found.icon_path or None,
    )


def soccer_tournament_view(found: SoccerTournament, prefix: str) -> SoccerTournamentView:
    category, season = found.category, found.season
    return SoccerTournamentView(
        id=_urn(prefix, "competition", found.id),
        external_id=found.id,
        name=found.name,
        parent=found.parent or None,
        gender=found.gender or None,
        category=CountryView(category.name, category.code or None) if category else None,
        season=SeasonView(season.name, season.starts_on or None, season.ends_on or None) if season else None,
        risk_tier=found.risk_tier,
        icon_path=found.icon_path or None,
    )


def soccer_tournament_detail_view(
    found: SoccerTournament, competitors: Iterable[SoccerCompetitor], prefix: str
) -> SoccerTournamentDetailView:
    named = tuple(NamedView(_urn(prefix, "competitor", one.id), one.id, one.name) for one in competitors)
    return SoccerTournamentDetailView(**asdict(soccer_tournament_view(found, prefix)), competitors=named)


class GoalsView(msgspec.Struct, frozen=True):
    home: int
    away: int


class SoccerMatchView(msgspec.Struct, frozen=True, kw_only=True):
    """A match as its source lists it. `date` and `time` are local, `time` as the source writes it; `matchday`
    is the number in `round`, `group` that of a cup. `status`: `scheduled` until the source has a result;
    `replay`: annulled, to be played again; `removed`: the source lists it no longer. Scores are those at half
    time, after 90 minutes (`full_time`), after extra time, and of the penalty shoot-out."""

    id: str
    external_id: int
    tournament: NamedView
    season: str
    round: str | None
    matchday: int | None
    group: str | None
    status: SoccerStatus
    date: str | None
    time: str | None
    home: NamedView
    away: NamedView
    half_time: GoalsView | None
    full_time: GoalsView | None
    extra_time: GoalsView | None
    penalties: GoalsView | None


class StandingView(msgspec.Struct, frozen=True, kw_only=True):
    """A team's place. Teams that are equal in points, goal difference and goals have the same rank; `group`
    is that of a cup, in which ranks begin again."""

    rank: int
    group: str | None
    team: NamedView
    played: int
    won: int
    drawn: int
    lost: int
    goals_for: int
    goals_against: int
    goal_difference: int
    points: int


class StandingsView(msgspec.Struct, frozen=True, kw_only=True):
    """The table of a season by the results that stand: three points for a win, one for a draw. It knows no
    deductions, and no other rule for teams that are level. `seasons` are all that have matches, the latest
    first; `season` is null while none has."""

    tournament: NamedView
    season: str | None
    seasons: tuple[str, ...]
    standings: tuple[StandingView, ...]


class SoccerNames(msgspec.Struct, frozen=True):
    """The names of tournaments and teams by number, and the prefix of URNs."""

    prefix: str
    tournaments: Mapping[int | None, SoccerTournament]
    teams: Mapping[int | None, SoccerCompetitor]

    def tournament(self, number: int) -> NamedView:
        return NamedView(_urn(self.prefix, "competition", number), number, self.tournaments[number].name)

    def team(self, number: int) -> NamedView:
        return NamedView(_urn(self.prefix, "competitor", number), number, self.teams[number].name)


def soccer_match_view(match: SoccerMatch, names: SoccerNames) -> SoccerMatchView:
    return SoccerMatchView(
        id=_urn(names.prefix, "match", match.id),
        external_id=match.id,
        tournament=names.tournament(match.tournament_id),
        season=match.season,
        round=match.round or None,
        matchday=match.matchday,
        group=match.group or None,
        status=match.status,
        date=match.day or None,
        time=match.time or None,
        home=names.team(match.home_id),
        away=names.team(match.away_id),
        half_time=_goals(match.half_time),
        full_time=_goals(match.full_time),
        extra_time=_goals(match.extra_time),
        penalties=_goals(match.penalties),
    )


def _goals(goals: Goals | None) -> GoalsView | None:
    return None if goals is None else GoalsView(*goals)


def standings_view(
    tournament: int, seasons: Sequence[str], season: str | None, rows: Iterable[Standing], names: SoccerNames
) -> StandingsView:
    return StandingsView(
        tournament=names.tournament(tournament),
        season=season,
        seasons=tuple(seasons),
        standings=tuple(_standing(row, names) for row in rows),
    )


def _standing(row: Standing, names: SoccerNames) -> StandingView:
    return StandingView(
        rank=row.rank,
        group=row.group or None,
        team=names.team(row.team_id),
        played=row.played,
        won=row.won,
        drawn=row.drawn,
        lost=row.lost,
        goals_for=row.goals_for,
        goals_against=row.goals_against,
        goal_difference=row.goal_difference,
        points=row.points,
    )


def _urn(prefix: str, kind: str, number: int) -> str:
    return f"{prefix}:{kind}:{number}"
