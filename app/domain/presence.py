"""Which players can play: one who leaves the server is missing in the current round and in those that follow.

A player who comes back in a round in play counts from the next one on. The server's list of players in a
freeze time shows how many each team has: one who never connected is missing in it, a substitute and a coach,
who is killed by the server when a round begins, are in it. Without a list both teams are assumed complete
until a player leaves.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import MatchChanges
from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.match import CurrentRound, Match, Presence, Team, TeamPlayer
from app.domain.sides import team_of
from app.domain.timeline import gone_without_kill

PLAYERS = "players"  #: the kind of the doubt that a team without players raises
TEAM = 5


def available_players(match: Match, team: Team) -> int:
    """How many players of a team can play the next round."""
    return min(TEAM, max(0, _present(match.presence, team)))


def _present(presence: Presence, team: Team) -> int:
    """How many players and bots a team has on the server; more than five with a coach."""
    absent = sum(member.team == team for member in presence.absent)
    bots = sum(member.team == team for member in presence.bots)
    return TEAM - absent + bots - presence.unseen[0 if team == "home" else 1]


def player_left(match: Match, fact: f.PlayerLeft, changes: MatchChanges) -> Match:
    """The player is missing from now on; in a round in play they count as dead."""
    team = team_of(match, fact.player, fact.side) if fact.side else None
    if match.map is None or match.warmup or team is None:
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
        return match if dead else gone_without_kill(match, fact.player, fact.side or "CT")
    return _update_alive(match)


def player_joined(match: Match, fact: f.PlayerJoined, changes: MatchChanges) -> Match:
    team = team_of(match, fact.player, fact.side)
    if match.map is None or match.warmup or team is None:
        return match
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


def list_begun(match: Match, fact: f.ListBegun, changes: MatchChanges) -> Match:
    return replace(match, shown=replace(match.shown, listed=(0, 0)))


def count_listed(match: Match, fact: f.PlayerListed) -> Match:
    """Count a row of the server's list; without its team the list shows nothing."""
    listed, team = match.shown.listed, team_of(match, fact.player, fact.side)
    if listed is None:
        return match
    home, away = listed
    count = None if team is None else (home + (team == "home"), away + (team == "away"))
    return replace(match, shown=replace(match.shown, listed=count))


def list_ended(match: Match, fact: f.ListEnded, changes: MatchChanges) -> Match:
    """The list is complete, if it has players of both teams: each has as many as it says."""
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
    home, away = _present(match.presence, "home"), _present(match.presence, "away")
    return replace(
        current,
        alive_home=available_players(match, "home"),
        alive_away=available_players(match, "away"),
        coaches=(max(0, home - TEAM), max(0, away - TEAM)),
    )


def reset_presence(match: Match) -> Match:
    """Another map, or the server restarted: all players connect again."""
    return replace(match, presence=Presence()) if match.presence != Presence() else match


def check_presence(match: Match) -> Match:
    """Raise a doubt while a team has no players on the server."""
    teams: tuple[Team, Team] = ("home", "away")
    empty = next((team for team in teams if match.map and not available_players(match, team)), None)
    if empty is None:
        return clear_doubt(match, PLAYERS)
    team = match.home if empty == "home" else match.away
    return raise_doubt(match, PLAYERS, f"nobody of {team} is on the server")
