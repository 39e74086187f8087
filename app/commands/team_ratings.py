"""Ratings follow what is played, and matches before play follow ratings.

Ratings are computed from events in order of time. After a change in the past (a result that is corrected, a
match that is cancelled, an old result that is imported) they are computed again from that moment on, in the
same transaction.
"""

from collections.abc import Collection

from msgspec.structs import replace

from app.domain.entrants import Competitor
from app.domain.match import Match, Status, Team
from app.domain.strength import MILLIS_OF_DAY, RatingEvent, TeamRating, check_strengths, played_maps
from app.store import entrants, ratings
from app.store.transaction import Tx
from app.trading.ratings import RatingHistory, rating_model

BEFORE_PLAY = (Status.DISCOVERED, Status.UPCOMING)
_TEAMS: tuple[Team, Team] = ("home", "away")


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


async def _compute(tx: Tx, since: int, teams: set[int]) -> None:
    """Ratings from the events since then; those of `teams`, too, that have no event any more."""
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


def _prior(team: Competitor | None, at: int) -> TeamRating:
    model = rating_model()
    return model.of_strength(team.strength, at) if team and team.strength else model.unlisted(at)


async def with_current_ratings(tx: Tx, match: Match, now: int, *, begins: bool = False) -> Match:
    """The match with its teams' ratings as of `now` in place of strengths that no operator has set; that of
    reference data where a team has played too little. Once play has begun (it just `begins`: not yet), only
    what is missing is set: the rounds of the match have counted since."""
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
