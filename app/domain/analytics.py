"""Statistics of teams and players on the maps of a finished match, counted from its rounds and events.

Lines hold counts only, so that those of many maps add up; rates are computed for display. Void rounds
and events do not count, nor do maps that were awarded without a round being played; of late events kills
do, as on the server's scoreboard.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

import msgspec

from app.domain.loadout import buy_type
from app.domain.match import (
    MapPlay,
    Match,
    MatchPlayer,
    OtherDeath,
    Round,
    Side,
    Team,
    TimelineEvent,
    other_side,
    other_team,
)

RACES = (6, 9, 12)


class TeamLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A team's counts. A second round counts where the pistol round before it was won; a first kill where
    it is known who made it; a race counts the maps on which the team was first to have so many rounds; a
    buy counts where the equipment of all five is known, an even one where both teams bought fully."""

    maps: int = 0
    wins: int = 0
    losses: int = 0
    rounds_ct: int = 0
    won_ct: int = 0
    rounds_t: int = 0
    won_t: int = 0
    pistols: int = 0
    pistols_won: int = 0
    pistols_ct: int = 0
    pistols_won_ct: int = 0
    second_rounds: int = 0
    second_rounds_won: int = 0
    first_kill_rounds: int = 0
    first_kills: int = 0
    first_kills_won: int = 0
    plants: int = 0
    plants_won: int = 0
    kills: int = 0
    deaths: int = 0
    headshots: int = 0
    overtimes: int = 0
    overtimes_won: int = 0
    race_to_6: int = 0
    race_to_9: int = 0
    race_to_12: int = 0
    ecos: int = 0
    ecos_won: int = 0
    forces: int = 0
    forces_won: int = 0
    fulls: int = 0
    fulls_won: int = 0
    even_fulls: int = 0
    even_fulls_won: int = 0


class PlayerTally(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player's counts; `rounds` are those of the maps that they were seen on."""

    maps: int = 0
    rounds: int = 0
    kills: int = 0
    deaths: int = 0
    assists: int = 0
    headshots: int = 0
    first_kills: int = 0
    first_deaths: int = 0


class TeamOnMap(msgspec.Struct, frozen=True):
    """One team's line of one map; `name` is the team's."""

    map: int
    map_name: str
    team: Team
    name: str
    team_id: int | None
    line: TeamLine


class PlayerOnMap(msgspec.Struct, frozen=True):
    """One player's tally of one map, for the team that they played for."""

    map: int
    map_name: str
    player: MatchPlayer
    team_name: str
    team_id: int | None
    tally: PlayerTally


C = TypeVar("C", TeamLine, PlayerTally)


def total(kind: type[C], lines: Iterable[C]) -> C:
    """The sum of lines, field by field."""
    return kind(*map(sum, zip(*map(msgspec.structs.astuple, lines), strict=True)))


def teams_on_maps(match: Match, rounds: Iterable[Round], events: Iterable[TimelineEvent]) -> list[TeamOnMap]:
    """Both teams' lines of every map that was played."""
    record = list(rounds), list(events)
    lines: list[TeamOnMap] = []
    for play, played, happened in _maps(match, *record):
        for team, name, team_id in _teams(match):
            line = _team_line(play, team, played, happened, _other_deaths(match, play, played))
            lines.append(TeamOnMap(play.number, play.name, team, name, team_id, line))
    return lines


def players_on_maps(
    match: Match, rounds: Iterable[Round], events: Iterable[TimelineEvent]
) -> list[PlayerOnMap]:
    """The tally of each player with a kill, death or assist on a map that was played."""
    record = list(rounds), list(events)
    teams = {team: (name, team_id) for team, name, team_id in _teams(match)}
    found: list[PlayerOnMap] = []
    for play, played, happened in _maps(match, *record):
        deaths = _other_deaths(match, play, played)
        for player, team, tally in tallies(len(played), happened, deaths):
            found.append(PlayerOnMap(play.number, play.name, player, *teams[team], tally))
    return found


def _teams(match: Match) -> tuple[tuple[Team, str, int | None], ...]:
    return ("home", match.home, match.home_id), ("away", match.away, match.away_id)


def _maps(
    match: Match, rounds: Sequence[Round], events: Sequence[TimelineEvent]
) -> Iterable[tuple[MapPlay, list[Round], list[TimelineEvent]]]:
    for play in match.maps:
        played = [one for one in rounds if one.map == play.number and not one.void]
        numbers = {one.number for one in played}
        if play.status == "finished" and played:
            yield (
                play,
                played,
                [
                    event
                    for event in events
                    if event.map == play.number
                    and event.round in numbers
                    and not event.void
                    and (event.type == "kill" or not event.late)
                ],
            )


def _other_deaths(match: Match, play: MapPlay, played: Iterable[Round]) -> list[OtherDeath]:
    numbers = {one.number for one in played}
    return [death for death in match.other_deaths if death.map == play.number and death.round in numbers]


def _team_line(
    play: MapPlay,
    team: Team,
    played: list[Round],
    events: list[TimelineEvent],
    deaths: Sequence[OtherDeath],
) -> TeamLine:
    counts = (
        _result(play, team),
        *(_sides(team, one) for one in played),
        *_pistols(play, team, played),
        *_first_kills(team, played, events),
        *_plants(team, played, events),
        *_kills(team, events),
        TeamLine(deaths=sum(death.team == team for death in deaths)),
        _races(team, played),
        *_buys(play, team, played),
    )
    return total(TeamLine, counts)


def _result(play: MapPlay, team: Team) -> TeamLine:
    won, lost = play.winner == team, play.winner == other_team(team)
    overtime = play.rounds_won > play.max_rounds
    return TeamLine(maps=1, wins=won, losses=lost, overtimes=overtime, overtimes_won=overtime and won)


def _side(team: Team, played: Round) -> Side:
    return played.home_side if team == "home" else other_side(played.home_side)


def _sides(team: Team, played: Round) -> TeamLine:
    won = played.winner == team
    if _side(team, played) == "CT":
        return TeamLine(rounds_ct=1, won_ct=won)
    return TeamLine(rounds_t=1, won_t=won)


def _pistols(play: MapPlay, team: Team, played: list[Round]) -> Iterable[TeamLine]:
    by_number = {one.number: one for one in played}
    for number in (1, play.max_rounds // 2 + 1):
        pistol, second = by_number.get(number), by_number.get(number + 1)
        if pistol is None:
            continue
        won, ct = pistol.winner == team, _side(team, pistol) == "CT"
        yield TeamLine(pistols=1, pistols_won=won, pistols_ct=ct, pistols_won_ct=ct and won)
        if won and second is not None:
            yield TeamLine(second_rounds=1, second_rounds_won=second.winner == team)


def _first_kills(team: Team, played: list[Round], events: list[TimelineEvent]) -> Iterable[TeamLine]:
    winners = {one.number: one.winner for one in played}
    for number, killer in _openings(events).items():
        mine = killer.actor_team == team
        yield TeamLine(
            first_kill_rounds=1, first_kills=mine, first_kills_won=mine and winners[number] == team
        )


def _openings(events: Iterable[TimelineEvent]) -> dict[int, TimelineEvent]:
    """The first kill that counts of each round."""
    found: dict[int, TimelineEvent] = {}
    for event in events:
        if event.round not in found and event.counts_for_markets and event.actor_team is not None:
            found[event.round] = event
    return found


def _plants(team: Team, played: list[Round], events: list[TimelineEvent]) -> Iterable[TeamLine]:
    planted = {event.round for event in events if event.type == "bomb_planted"}
    for one in played:
        if one.number in planted and _side(team, one) == "T":
            yield TeamLine(plants=1, plants_won=one.winner == team)


def _kills(team: Team, events: list[TimelineEvent]) -> Iterable[TeamLine]:
    for event in events:
        if event.type == "kill":
            mine = event.on_scoreboard and event.actor_team == team
            yield TeamLine(kills=mine, deaths=event.target_team == team, headshots=mine and event.headshot)


def _races(team: Team, played: list[Round]) -> TeamLine:
    first = {}
    for target in RACES:
        reached = (one.winner for one in played if max(one.home_score, one.away_score) >= target)
        first[f"race_to_{target}"] = int(next(reached, None) == team)
    return TeamLine(**first)


def _buys(play: MapPlay, team: Team, played: list[Round]) -> Iterable[TeamLine]:
    """Results of eco, force and full buys; pistol rounds are none of these."""
    pistols = (1, play.max_rounds // 2 + 1)
    for one in played:
        ours, theirs = one.worth if team == "home" else one.worth[::-1]
        if ours is None or one.number in pistols:
            continue
        won, kind = one.winner == team, buy_type(ours)
        if kind != "full":
            yield TeamLine(ecos=1, ecos_won=won) if kind == "eco" else TeamLine(forces=1, forces_won=won)
        else:
            even = theirs is not None and buy_type(theirs) == "full"
            yield TeamLine(fulls=1, fulls_won=won, even_fulls=even, even_fulls_won=even and won)


_Key = int | str  #: `MatchPlayer.key`, written out below where every kill of a match passes


def tallies(
    rounds: int, events: Iterable[TimelineEvent], deaths: Iterable[OtherDeath]
) -> Iterable[tuple[MatchPlayer, Team, PlayerTally]]:
    """Each player's tally as on the server's scoreboard, under the last name and for the team that they were
    last seen with. `deaths` are those without a kill."""
    others = [(death.player, death.team, ("deaths",)) for death in deaths]
    seen: dict[_Key, tuple[MatchPlayer, Team]] = {}
    counts: defaultdict[_Key, Counter[str]] = defaultdict(Counter)
    for player, team, names in (*others, *_in_kills(list(events))):
        key = player.account or player.name
        seen[key], of_player = (player, team), counts[key]
        for name in names:
            of_player[name] += 1
    for key in sorted(counts, key=lambda key: (0, key) if isinstance(key, str) else (key, "")):
        yield *seen[key], PlayerTally(maps=1, rounds=rounds, **counts[key])


def _last_teams(events: Iterable[TimelineEvent]) -> dict[_Key, Team]:
    """The team for which each player killed or died last."""
    teams: dict[_Key, Team] = {}
    for event in events:
        actor, target = event.actor, event.target
        if actor and event.actor_team:
            teams[actor.account or actor.name] = event.actor_team
        if target and event.target_team:
            teams[target.account or target.name] = event.target_team
    return teams


#: The fields in which a kill counts for who made it: by whether it was a headshot, and the round's first.
_KILL = {
    (False, False): ("kills",),
    (False, True): ("kills", "first_kills"),
    (True, False): ("kills", "headshots"),
    (True, True): ("kills", "headshots", "first_kills"),
}


def _in_kills(events: list[TimelineEvent]) -> Iterable[tuple[MatchPlayer, Team, tuple[str, ...]]]:
    """Who took part in a kill, and the fields of their tally in which it counts."""
    openings = {event.id for event in _openings(events).values()}
    teams = _last_teams(events)
    for event in events:
        if event.type != "kill":
            continue
        first = event.id in openings
        if event.target and event.target_team:
            yield event.target, event.target_team, ("deaths", "first_deaths") if first else ("deaths",)
        if event.on_scoreboard and event.actor and event.actor_team:
            yield event.actor, event.actor_team, _KILL[event.headshot, first]
        if event.assister and event.target_team:
            opponent = other_team(event.target_team)
            # The scoreboard counts no assist on a team mate, though the log reports it.
            if teams.get(event.assister.key, opponent) == opponent:
                yield event.assister, opponent, ("assists",)


#: How far back statistics look.
TimeFilter = Literal["1month", "3months", "6months", "12months", "all"]
_DAY = 86_400_000
_DAYS: dict[TimeFilter, int] = {"1month": 30, "3months": 91, "6months": 182, "12months": 365}


def window_start(window: TimeFilter, now: int) -> int:
    """The first moment (Unix ms) that counts."""
    return 0 if window == "all" else now - _DAYS[window] * _DAY
