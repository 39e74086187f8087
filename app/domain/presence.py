"""Who can play: players who leave the server are missed in the round in hand and in those that follow.

A player who comes back in a round in play counts from the next one on. Who was there before the map began
is not known: both teams are taken to be whole until somebody leaves.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import Changes
from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.match import CurrentRound, Match, Player, Presence, Slot, TeamPlayer
from app.domain.sides import slot_of
from app.domain.timeline import mark_dead

PLAYERS = "players"  #: the kind of the doubt that a team without anybody raises
TEAM = 5


def able(match: Match, slot: Slot) -> int:
    """How many of a team can play the next round."""
    away = sum(member.slot == slot for member in match.presence.away)
    bots = sum(member.slot == slot for member in match.presence.bots)
    return min(TEAM, max(0, TEAM - away + bots))


def left(match: Match, fact: f.PlayerLeft, changes: Changes) -> Match:
    """Whoever leaves is missed; in a round in play as if they had died."""
    slot = slot_of(match, fact.player, fact.side) if fact.side else None
    if match.map is None or match.warmup or slot is None:
        return match
    presence, member = match.presence, TeamPlayer(fact.player, slot)
    if not fact.player.account:
        bots = tuple(one for one in presence.bots if one.player != fact.player)
        match = replace(match, presence=replace(presence, bots=bots))
    elif not any(_same(one.player, fact.player) for one in presence.away):
        match = replace(match, presence=replace(presence, away=(*presence.away, member)))
    current = match.current
    if current is not None and current.phase == "live":
        dead = any(_same(one, fact.player) for one in current.dead)
        return match if dead else mark_dead(match, fact.player, fact.side or "CT")
    return _counted(match)


def joined(match: Match, fact: f.PlayerJoined, changes: Changes) -> Match:
    slot = slot_of(match, fact.player, fact.side)
    if match.map is None or match.warmup or slot is None:
        return match
    presence = match.presence
    away = tuple(one for one in presence.away if not _same(one.player, fact.player))
    if fact.player.account or any(one.player == fact.player for one in presence.bots):
        presence = replace(presence, away=away)
    else:
        presence = replace(presence, bots=(*presence.bots, TeamPlayer(fact.player, slot)))
    return _counted(replace(match, presence=presence))


def _counted(match: Match) -> Match:
    """The round that has not begun is played by those who are there."""
    current = match.current
    if current is None or current.phase != "freeze":
        return match
    return replace(match, current=with_available_players(match, current))


def with_available_players(match: Match, current: CurrentRound) -> CurrentRound:
    """A round that is about to begin, with those who can play it."""
    return replace(current, alive_home=able(match, "home"), alive_away=able(match, "away"))


def reset_presence(match: Match) -> Match:
    """Another map, or the server anew: everybody connects again."""
    return replace(match, presence=Presence()) if match.presence != Presence() else match


def check(match: Match) -> Match:
    """There is nothing to price while a team has nobody left on the server."""
    slots: tuple[Slot, Slot] = ("home", "away")
    nobody = next((slot for slot in slots if match.map and not able(match, slot)), None)
    if nobody is None:
        return clear_doubt(match, PLAYERS)
    team = match.home if nobody == "home" else match.away
    return raise_doubt(match, PLAYERS, f"nobody of {team} is on the server")


def _same(one: Player, other: Player) -> bool:
    return one.account == other.account if one.account or other.account else one.name == other.name
