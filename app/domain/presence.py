"""Which players can play: one who leaves the server is missing in the current round and in those that follow.

A player who comes back in a round in play counts from the next one on. The server's list of players in a
freeze time shows how many each team has: one who never connected is missing in it, a substitute is in it.
Without a list both teams are assumed complete until a player leaves.

A coach is on a side as players are, and on the list; the server kills coaches before a round goes live, or as
it does. So a player who dies without a killer in a freeze time, or while a team has more than five players,
counts as a coach until they are in a kill.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain import timeline
from app.domain.changes import MatchChanges
from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.match import CurrentRound, Match, MatchPlayer, Presence, Team, TeamPlayer
from app.domain.series import map_in_play
from app.domain.sides import team_of, team_of_player

PLAYERS = "players"  #: the kind of the doubt that a team without players raises
TEAM = 5


def available_players(match: Match, team: Team) -> int:
    """How many players of a team can play the next round."""
    return min(TEAM, max(0, _present(match.presence, team)))


def _present(presence: Presence, team: Team) -> int:
    """How many players and bots a team has on the server, with coaches that are not known yet."""
    absent = sum(member.team == team for member in presence.absent)
    bots = sum(member.team == team for member in presence.bots)
    return TEAM - absent + bots - presence.unseen[0 if team == "home" else 1]


def player_left(match: Match, fact: f.PlayerLeft, changes: MatchChanges) -> Match:
    """The player is missing from now on; in a round in play they count as dead."""
    team = team_of(match, fact.player, fact.side) if fact.side else None
    if match.map is None or match.warmup or team is None:
        return match
    if _is_coach(match, fact.player):
        return match
    presence, member = match.presence, TeamPlayer(fact.player, team)
    if not fact.player.account:
        bots = tuple(one for one in presence.bots if one.player != fact.player)
        match = replace(match, presence=replace(presence, bots=bots))
    elif not any(one.player.key == fact.player.key for one in presence.absent):
        match = replace(match, presence=replace(presence, absent=(*presence.absent, member)))
    current = match.current
    if current is not None and current.phase == "live":
        dead = any(one.key == fact.player.key for one in current.dead)
        return match if dead else timeline.mark_dead(match, fact.player, fact.side or "CT")
    return _update_alive(match)


def player_joined(match: Match, fact: f.PlayerJoined, changes: MatchChanges) -> Match:
    team = team_of(match, fact.player, fact.side)
    if match.map is None or match.warmup or team is None:
        return match
    match = _without_coach(match, fact.player)  # a coach dies again
    presence = match.presence
    absent = tuple(one for one in presence.absent if one.player.key != fact.player.key)
    if len(absent) == len(presence.absent):
        presence = replace(presence, unseen=_less_one(presence.unseen, team))
    if fact.player.account or any(one.player == fact.player for one in presence.bots):
        presence = replace(presence, absent=absent)
    else:
        presence = replace(presence, bots=(*presence.bots, TeamPlayer(fact.player, team)))
    return _update_alive(replace(match, presence=presence))


def _less_one(unseen: tuple[int, int], team: Team) -> tuple[int, int]:
    home, away = unseen
    return home - (team == "home" and home > 0), away - (team == "away" and away > 0)


def died(match: Match, fact: f.Died, changes: MatchChanges) -> Match:
    """A death without a killer, of a player or of a coach. A player's counts in a round in play only."""
    current, team = match.current, team_of(match, fact.victim, fact.side)
    if map_in_play(match) is None or current is None or _is_coach(match, fact.victim):
        return match
    in_freeze = current.phase == "freeze"
    played = not fact.victim.account or team_of_player(match, fact.victim) is not None
    if team and not played and (in_freeze or _present(match.presence, team) > TEAM):
        return _update_alive(_with_coach(match, TeamPlayer(fact.victim, team)))
    return match if in_freeze else timeline.died(match, fact, changes)


def killed(match: Match, fact: f.Killed) -> Match:
    """Both players of a kill are players, even if one of them counted as a coach before."""
    for player in (fact.killer, fact.victim):
        coach = next((one for one in match.presence.coaches if one.player.key == player.key), None)
        if coach is None or match.current is None:
            continue
        match = _without_coach(match, player)
        if _present(match.presence, coach.team) < TEAM:
            match = replace(match, presence=_with_unseen(match.presence, coach.team, -1))
            match = replace(match, current=_with_one_more(match.current, coach.team))
    return match


def _with_one_more(current: CurrentRound | None, team: Team) -> CurrentRound | None:
    """The round, with one more player alive."""
    if current is None:
        return None
    home, away = current.alive_home + (team == "home"), current.alive_away + (team == "away")
    return replace(current, alive_home=min(TEAM, home), alive_away=min(TEAM, away))


def _is_coach(match: Match, player: MatchPlayer) -> bool:
    return any(one.player.account == player.account for one in match.presence.coaches)


def _with_coach(match: Match, coach: TeamPlayer) -> Match:
    """The match with a coach, whom the server's last list had counted as a player."""
    presence = replace(match.presence, coaches=(*match.presence.coaches, coach))
    rows = (match.statistics and match.statistics.totals) or ()
    if any(row.account == coach.player.account for row in rows):
        presence = _with_unseen(presence, coach.team, 1)
    return replace(match, presence=presence)


def _without_coach(match: Match, player: MatchPlayer) -> Match:
    if not _is_coach(match, player):
        return match
    others = tuple([one for one in match.presence.coaches if one.player.key != player.key])
    return replace(match, presence=replace(match.presence, coaches=others))


def _with_unseen(presence: Presence, team: Team, more: int) -> Presence:
    home, away = presence.unseen
    return replace(presence, unseen=(home + more * (team == "home"), away + more * (team == "away")))


def list_begun(match: Match) -> Match:
    return replace(match, shown=replace(match.shown, listed=(0, 0)))


def count_listed(match: Match, fact: f.PlayerListed) -> Match:
    """Count a row of the server's list; without its team the list shows nothing."""
    listed, team = match.shown.listed, team_of(match, fact.player, fact.side)
    if listed is None or _is_coach(match, fact.player):
        return match
    home, away = listed
    count = None if team is None else (home + (team == "home"), away + (team == "away"))
    return replace(match, shown=replace(match.shown, listed=count))


def list_ended(match: Match) -> Match:
    """The list is complete. If it has players of both teams, each team has as many players as it shows."""
    listed = match.shown.listed
    if listed is None:
        return match
    match = replace(match, shown=replace(match.shown, listed=None))
    if match.map is None or match.warmup or not all(listed):
        return match
    presence = replace(match.presence, unseen=(0, 0))
    unseen = _present(presence, "home") - listed[0], _present(presence, "away") - listed[1]
    if unseen == match.presence.unseen:
        return match
    return _update_alive(replace(match, presence=replace(presence, unseen=unseen)))


def _update_alive(match: Match) -> Match:
    """Recompute the players alive of a round that is not live yet."""
    current = match.current
    if current is None or current.phase != "freeze":
        return match
    return replace(match, current=with_available_players(match, current))


def with_available_players(match: Match, current: CurrentRound) -> CurrentRound:
    """A round that is about to begin, with the players available for it."""
    return replace(
        current, alive_home=available_players(match, "home"), alive_away=available_players(match, "away")
    )


def reset_presence(match: Match) -> Match:
    """Drop who is missing: another map begins, or the server restarted, and all players connect again."""
    return replace(match, presence=Presence()) if match.presence != Presence() else match


def check_presence(match: Match) -> Match:
    """Raise a doubt while a team has no players on the server."""
    teams: tuple[Team, Team] = ("home", "away")
    empty = next((team for team in teams if match.map and not available_players(match, team)), None)
    if empty is None:
        return clear_doubt(match, PLAYERS)
    team = match.home if empty == "home" else match.away
    return raise_doubt(match, PLAYERS, f"nobody of {team} is on the server")
