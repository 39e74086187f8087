"""The entrants of a match: links to its teams, tournament and players, and what the teams' ratings are.

Names and accounts are resolved to stable ids. An id in a request must be known. A name without an id stands
for the only entrant of that name; an unknown name creates an entrant, so that every match links to two teams
and a tournament.

Ratings follow what is played, and matches before play follow ratings. Ratings are computed from events in
order of time. After a change in the past (a result that is corrected, a match that is cancelled, an old
result that is imported) they are computed again from that moment on, in the same transaction.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import count
from typing import Any

from msgspec.structs import replace

from app.domain import strength
from app.domain.analytics import PlayerOnMap
from app.domain.entrants import MAX_FILE_NUMBER, Competitor, Player, squad
from app.domain.match import BEFORE_PLAY, Match, Team
from app.domain.strength import MILLIS_OF_DAY, RatingEvent, TeamRating, check_strengths, played_maps
from app.kit.errors import Field, Invalid
from app.store import entrants, history, ratings
from app.store.entrants import E, EntrantTable
from app.store.transaction import Tx
from app.trading.ratings import RatingHistory, rating_model

_TEAMS: tuple[Team, Team] = ("home", "away")
Reference = tuple[str, int | None]  #: a name, and the id if there is one


async def resolve(tx: Tx, before: Match | None, match: Match, now: int) -> Match:
    """The match with the ids of its teams and tournament and, before play or where it has no strengths, the
    ratings that its teams have by now.

    References that are the same as `before` are not resolved again. Raises `Invalid` with the field `id_a`,
    `id_b` or `tournament_id`.
    """
    had, wanted = _references(before) if before else {}, _references(match)
    home = await _found(tx, entrants.TEAMS, "id_a", had, wanted)
    away = await _found(tx, entrants.TEAMS, "id_b", had, wanted)
    tournament = await _found(tx, entrants.TOURNAMENTS, "tournament_id", had, wanted)
    if home and away and home.id == away.id:
        raise Invalid(_fault("id_b", "A team does not play against itself.", "same_team", match.away))
    match = replace(
        match,
        home_id=home.id if home else match.home_id,
        away_id=away.id if away else match.away_id,
        tournament_id=tournament.id if tournament else match.tournament_id,
    )
    if match.status in BEFORE_PLAY or strength.is_unrated(match):
        return await with_current_ratings(tx, match, now)
    return match


async def with_current_ratings(tx: Tx, match: Match, now: int, *, begins: bool = False) -> Match:
    """The match with its teams' ratings as of `now` in place of strengths that no operator has set; with the
    strength of reference data where a team has played too little. Once play has begun only missing strengths
    are set, since ratings may include the match's own rounds. `begins`: play begins now, all are set."""
    may_replace = begins or match.status in BEFORE_PLAY
    version = await ratings.version(tx, (match.home_id, match.away_id))
    wanted = [team for team in _TEAMS if _may_set(match, team, may_replace)]
    numbers = {team: match.home_id if team == "home" else match.away_id for team in wanted}
    if wanted:
        rated = await ratings.of_teams(tx, numbers.values())
        known = await entrants.by_number(tx, entrants.TEAMS, numbers.values())
        for team, number in numbers.items():
            found = None if number is None else rated.get(number)
            match = _rated(match, team, found.rating if found else None, known.get(number), now)
    return check_strengths(replace(match, ratings_version=version))


def _may_set(match: Match, team: Team, may_replace: bool) -> bool:
    strength = match.home_strength if team == "home" else match.away_strength
    return not strength or (may_replace and team in match.follows_ratings)


def _rated(match: Match, team: Team, current: TeamRating | None, known: Competitor | None, now: int) -> Match:
    strength, spread = known.strength if known else 0.0, 0.0
    if current is not None and current.sufficient:
        # By whole days, so that time alone moves no price before play more than once a day.
        current = rating_model().aged(current, now - now % MILLIS_OF_DAY)
        strength, spread = max(round(current.points, 1), 1.0), round(current.spread, 1)
    follows = {*match.follows_ratings, team} if strength else {*match.follows_ratings} - {team}
    match = replace(match, follows_ratings=tuple(sorted(follows)))
    if team == "home":
        return replace(match, home_strength=strength, home_strength_sd=spread)
    return replace(match, away_strength=strength, away_strength_sd=spread)


async def record_roster(tx: Tx, match: Match) -> None:
    """Create those players of a match who are in no reference data, under the names that they have in it.
    Bots have no account and are left out."""
    accounts = {seat.account for seat in match.roster if seat.account}
    known = {player.account for player in await entrants.of_accounts(tx, accounts)} if accounts else accounts
    if known != accounts:
        events = await history.timeline(tx, match.id)
        seen = [*squad(match, "home", events), *squad(match, "away", events)]
        await _record(tx, seen, lambda known, _: known)


async def record_players(tx: Tx, played: Iterable[PlayerOnMap]) -> None:
    """Create or update the players of a match by their account. Imported players stay unchanged; others get
    the name and the team that they last played with. Bots have no account and are left out."""
    seen = {
        one.player.account: Player(0, one.player.name, account=one.player.account, team_id=one.team_id)
        for one in played
        if one.player.account
    }
    await _record(tx, list(seen.values()), _as_last_played)


async def _record(tx: Tx, seen: Sequence[Player], merged: Callable[[Player, Player], Player]) -> None:
    """Create the players of unknown accounts; the others become what `merged` makes of what is known and what
    was seen."""
    if not await _differing(tx, seen, merged):
        return
    await entrants.lock(tx, entrants.PLAYERS)
    numbers = count(await entrants.next_own(tx, entrants.PLAYERS))
    differing = await _differing(tx, seen, merged)
    await entrants.put(
        tx, entrants.PLAYERS, [one if one.id else replace(one, id=next(numbers)) for one in differing]
    )


async def _differing(
    tx: Tx, seen: Sequence[Player], merged: Callable[[Player, Player], Player]
) -> list[Player]:
    """What `_record` has to write, by account; a new player has no id yet."""
    known = {one.account: one for one in await entrants.of_accounts(tx, [one.account for one in seen])}
    found = []
    for one in sorted(seen, key=lambda player: player.account):
        had = known.get(one.account)
        player = one if had is None else merged(had, one)
        if player != had:
            found.append(player)
    return found


def _as_last_played(known: Player, seen: Player) -> Player:
    if known.id <= MAX_FILE_NUMBER:
        return known
    return replace(known, name=seen.name, team_id=seen.team_id)


def _references(match: Match) -> dict[str, Reference]:
    """The match's references, by the field of the id."""
    return {
        "id_a": (match.home, match.home_id),
        "id_b": (match.away, match.away_id),
        "tournament_id": (match.event, match.tournament_id),
    }


async def _found(
    tx: Tx, table: EntrantTable[E], field: str, had: dict[str, Reference], wanted: dict[str, Reference]
) -> E | None:
    """The entrant of a reference; None when neither the id nor, without an id, the name has changed."""
    name, number = wanted[field]
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


async def find_team(tx: Tx, place: tuple[str | int, ...], name: str) -> Competitor:
    """The only team of that name, created where there is none; raises `Invalid` about `place`."""
    try:
        return await _known(tx, entrants.TEAMS, str(place[-1]), name, None)
    except Invalid as error:
        raise Invalid(*(replace(fault, loc=place) for fault in error.fields)) from error


async def _new(tx: Tx, table: EntrantTable[E], name: str) -> E:
    """A new entrant of that name, or the one that another transaction created before we locked the table."""
    await entrants.lock(tx, table)
    others = await entrants.named(tx, table, [name])
    if others:
        return others[0]
    made = table.type(id=await entrants.next_own(tx, table), name=name.strip() or name)
    await entrants.put(tx, table, [made])
    return made


def _only(found: Sequence[E], table: EntrantTable[E], field: str, name: str) -> E | None:
    if len(found) > 1:
        what = f"More than one {table.name} is called {name!r}: give its id."
        raise Invalid(_fault(field, what, "ambiguous_name", name))
    return found[0] if found else None


def _fault(field: str, what: str, kind: str, given: Any) -> Field:
    return Field(("body", field), what, kind, given)


async def follow_results(tx: Tx, before: Match | None, after: Match) -> None:
    """Rate the teams of a match by what has changed in its played maps."""
    had, has = played_maps(before) if before else (), played_maps(after)
    if had == has:
        return
    kept = {one.reference for one in has}
    new = [one for one in has if one not in had]
    gone = [one for one in had if one.reference not in kept]
    await change_events(tx, new, gone)


async def change_events(tx: Tx, new: Collection[RatingEvent], gone: Collection[RatingEvent]) -> None:
    """Put `new` events, remove those that are `gone`, and compute ratings from the first of them on."""
    await ratings.lock(tx)
    replaced = await ratings.events(tx, [one.reference for one in (*new, *gone)])
    await ratings.delete_events(tx, [one.reference for one in gone])
    await ratings.put_events(tx, new)
    changed = [*new, *replaced.values()]
    if changed:
        teams = {team for one in changed for team in one.teams}
        await _compute(tx, min(one.at for one in changed), teams)


async def compute_all(tx: Tx) -> int:
    """Ratings from all events, by the present coefficients; how many teams have one."""
    await ratings.lock(tx)
    return await _compute(tx, 0, set())


async def _compute(tx: Tx, since: int, teams: set[int]) -> int:
    """Ratings from the events since then, and those of `teams`, too, that have no event any more; of how many
    teams."""
    following = await ratings.events_since(tx, since)
    teams = teams | {team for one in following for team in one.teams}
    strengths = await entrants.by_number(tx, entrants.TEAMS, teams)
    history = RatingHistory(
        rating_model(),
        lambda team, at: _prior(strengths.get(team), at),
        await ratings.ratings_before(tx, teams, since),
        await ratings.forms_before(tx, {one.series for one in following}, since),
    )
    outcomes = [(one.reference, history.apply(one)) for one in following]
    await ratings.save_outcomes(tx, outcomes)
    await ratings.save(tx, {team: history.ratings.get(team) for team in sorted(teams)})
    return len(teams)


def _prior(team: Competitor | None, at: int) -> TeamRating:
    model = rating_model()
    return model.of_strength(team.strength, at) if team and team.strength else model.unlisted(at)
