"""Which players can play: one who leaves the server is missing in the current round and in those that follow.

A player who comes back in a round in play counts from the next one on. Who was there before the map began
is not known: both teams are assumed complete until a player leaves.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import Changes
from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.match import CurrentRound, Match, MatchPlayer, Presence, Team, TeamPlayer
from app.domain.sides import team_of
from app.domain.timeline import mark_dead

PLAYERS = "players"  #: the kind of the doubt that a team without players raises
TEAM = 5


def available_players(match: Match, team: Team) -> int:
    """How many players of a team can play the next round."""
    away = sum(member.team == team for member in match.presence.away)
    bots = sum(member.team == team for member in match.presence.bots)
    return min(TEAM, max(0, TEAM - away + bots))


def player_left(match: Match, fact: f.PlayerLeft, changes: Changes) -> Match:
    """The player is missing from now on; in a round in play they count as dead."""
    team = team_of(match, fact.player, fact.side) if fact.side else None
    if match.map is None or match.warmup or team is None:
        return match
    presence, member = match.presence, TeamPlayer(fact.player, team)
    if not fact.player.account:
        bots = tuple(one for one in presence.bots if one.player != fact.player)
        match = replace(match, presence=replace(presence, bots=bots))
    elif not any(_same(one.player, fact.player) for one in presence.away):
        match = replace(match, presence=replace(presence, away=(*presence.away, member)))
    current = match.current
    if current is not None and current.phase == "live":
        dead = any(_same(one, fact.player) for one in current.dead)
        return match if dead else mark_dead(match, fact.player, fact.side or "CT")
    return _update_alive(match)


def player_joined(match: Match, fact: f.PlayerJoined, changes: Changes) -> Match:
    team = team_of(match, fact.player, fact.side)
    if match.map is None or match.warmup or team is None:
        return match
    presence = match.presence
    away = tuple(one for one in presence.away if not _same(one.player, fact.player))
    if fact.player.account or any(one.player == fact.player for one in presence.bots):
        presence = replace(presence, away=away)
    else:
        presence = replace(presence, bots=(*presence.bots, TeamPlayer(fact.player, team)))
    return _update_alive(replace(match, presence=presence))


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


def _same(one: MatchPlayer, other: MatchPlayer) -> bool:
    return one.account == other.account if one.account or other.account else one.name == other.name
