"""What the players of a match did in earlier matches, for prices of their kills: read from the statistics of
finished matches, which follow every correction of these, and stored with the match."""

from itertools import groupby

from msgspec.structs import replace

from app.domain.match import Match, PlayerForm
from app.store import statistics
from app.store.statistics import MapTally
from app.store.transaction import Tx
from app.trading.player_kills import kill_model

_MAPS = 40  #: of each player; matches that lie behind so many maps count next to nothing


async def with_player_forms(tx: Tx, before: Match | None, after: Match) -> Match:
    """The match with the forms of all players of its roster, read when a map begins or a player joins."""
    accounts = {seat.account for seat in after.roster if seat.account}
    begins = before is not None and len(after.maps) > len(before.maps)
    if after.over or not accounts or (not begins and accounts <= {one.account for one in after.player_forms}):
        return after
    tallies = await statistics.of_players(tx, sorted(accounts), limit=_MAPS)
    found = {account: PlayerForm(account) for account in sorted(accounts)}
    for account, played in groupby(tallies, key=lambda one: one.account):
        others = [one for one in played if one.match_id != after.id]
        found[account] = kill_model().form(account, _by_match(others))
    return replace(after, player_forms=tuple(found.values()))


def _by_match(tallies: list[MapTally]) -> list[tuple[int, int]]:
    """Kills and rounds of each match; maps of one match follow each other."""
    matches = [[one.tally for one in played] for _, played in groupby(tallies, key=lambda one: one.match_id)]
    return [(sum(one.kills for one in match), sum(one.rounds for one in match)) for match in matches]
