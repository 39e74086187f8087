"""Whom a match is between, in what, and who played: names and accounts become numbers that stay.

A number that is given must be known. A name without a number stands for the only one of that name; a name
that nobody bears is given to somebody new, so that every match leads to two teams and a tournament.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from app.domain import rating
from app.domain.analytics import PlayerOnMap
from app.domain.entrants import OWN, Competitor, Player
from app.domain.match import Match
from app.kit.errors import Field, Invalid
from app.store import entrants
from app.store.entrants import E, EntrantTable
from app.store.transaction import Tx

Told = tuple[str, int | None]  #: a name, and the number where it is given


async def linked(tx: Tx, before: Match | None, match: Match) -> Match:
    """The match with its numbers, as far as they are not those that it had `before`, and with the strengths
    of its teams where none were given; one that is unrated gets those that are known by now. Raises `Invalid`
    naming `id_a`, `id_b` or `tournament_id`."""
    had, asked = _told(before) if before else {}, _told(match)
    home = await _found(tx, entrants.TEAMS, "id_a", had, asked)
    away = await _found(tx, entrants.TEAMS, "id_b", had, asked)
    tournament = await _found(tx, entrants.TOURNAMENTS, "tournament_id", had, asked)
    if home and away and home.id == away.id:
        raise Invalid(_fault("id_b", "A team does not play against itself.", "same_team", match.away))
    match = replace(
        _with_strengths(match, home, away),
        home_id=home.id if home else match.home_id,
        away_id=away.id if away else match.away_id,
        tournament_id=tournament.id if tournament else match.tournament_id,
    )
    if not rating.unrated(match):
        return match
    teams = await entrants.by_number(tx, entrants.TEAMS, (match.home_id, match.away_id))
    return rating.rated(_with_strengths(match, teams.get(match.home_id), teams.get(match.away_id)))


def _with_strengths(match: Match, home: Competitor | None, away: Competitor | None) -> Match:
    """The match with the strengths of these teams where it has none."""
    return replace(
        match,
        home_strength=match.home_strength or (home.strength if home else 0.0),
        away_strength=match.away_strength or (away.strength if away else 0.0),
    )


async def players(tx: Tx, played: Iterable[PlayerOnMap]) -> None:
    """Make whoever played known by their account. What a file said about a player stays; others have the
    name and the team that they were last seen with. Bots have no account and are nobody."""
    seen = {one.player.account: one for one in played if one.player.account}
    known = {player.account: player for player in await entrants.of_accounts(tx, seen.keys())}
    if all(_same(known.get(account), one) for account, one in seen.items()):
        return
    await entrants.lock(tx, entrants.PLAYERS)
    known = {player.account: player for player in await entrants.of_accounts(tx, seen.keys())}
    following = await entrants.next_own(tx, entrants.PLAYERS)
    told: list[Player] = []
    for account, one in sorted(seen.items()):
        player = known.get(account)
        if player is None:
            player = Player(following, one.player.name, account=account, team_id=one.team_id)
            following += 1
            told.append(player)
        elif not _same(player, one):
            told.append(replace(player, name=one.player.name, team_id=one.team_id))
    await entrants.put(tx, entrants.PLAYERS, told)


def _same(known: Player | None, one: PlayerOnMap) -> bool:
    if known is None:
        return False
    return known.id <= OWN or (known.name, known.team_id) == (one.player.name, one.team_id)


def _told(match: Match) -> dict[str, Told]:
    """What the match says of each, by the field that would say its number."""
    return {
        "id_a": (match.home, match.home_id),
        "id_b": (match.away, match.away_id),
        "tournament_id": (match.event, match.tournament_id),
    }


async def _found(
    tx: Tx, table: EntrantTable[E], field: str, had: dict[str, Told], asked: dict[str, Told]
) -> E | None:
    """Who is meant; None when nothing new was said: neither another number nor, without any, a name."""
    name, number = asked[field]
    if field in had and (had[field] == (name, number) or (number is not None and number == had[field][1])):
        return None
    return await _known(tx, table, field, name, number)


async def _known(tx: Tx, table: EntrantTable[E], field: str, name: str, number: int | None) -> E:
    if number is not None:
        found = await entrants.get(tx, table, number)
        if found is None:
            raise Invalid(
                _fault(field, f"There is no {table.name} {number}.", f"unknown_{table.name}", number)
            )
        return found
    return _only(await entrants.named(tx, table, [name]), table, field, name) or await _new(tx, table, name)


async def _new(tx: Tx, table: EntrantTable[E], name: str) -> E:
    """Somebody of that name: while the table is locked nobody else makes one."""
    await entrants.lock(tx, table)
    others = await entrants.named(tx, table, [name])
    if others:
        return others[0]
    made = table.type(id=await entrants.next_own(tx, table), name=name.strip() or name)
    await entrants.put(tx, table, [made])
    return made


def _only(found: Sequence[E], table: EntrantTable[E], field: str, name: str) -> E | None:
    if len(found) > 1:
        what = f"More than one {table.name} is called {name!r}: say which by its number."
        raise Invalid(_fault(field, what, "ambiguous_name", name))
    return found[0] if found else None


def _fault(field: str, what: str, kind: str, given: Any) -> Field:
    return Field(("body", field), what, kind, given)
