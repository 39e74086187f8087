"""The kills and deaths of each round, checked against the game server's own totals.

Each freeze time begins with a statistics block, which has the totals of every player on the map. From one to
the next, `kills` grows by the kills of enemies, those after the round's decision too, and `deaths` by deaths
of any kind. A line that was lost, or not understood, shows as a difference. The map's last round has no block
after it.

Where the events of a round are in doubt (`Round.doubted_by`), the markets that rest on them wait until the
totals agree, or an operator decides.
"""

from collections import Counter
from typing import Any

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import DetailsChanged, EventsVoided, MatchAndChanges, MatchChanges, RoundAmended
from app.domain.doubts import STATISTICS, UNREAD, UNREAD_LINE, clear_doubt, raise_doubt
from app.domain.match import (
    CurrentRound,
    EventDoubt,
    MapPlay,
    Match,
    PlayerTotals,
    Round,
    RoundTally,
    StatisticsBlock,
)
from app.domain.round_knowledge import forget
from app.domain.series import map_in_play, map_numbered
from app.domain.sides import update_map
from app.kit.errors import Conflict


def line_not_understood(match: Match, fact: f.LineNotUnderstood, changes: MatchChanges) -> Match:
    """Something unknown may have happened in this round. In a freeze time nothing happens; but where nothing
    that was sent is a line of a log, the round may have begun."""
    current, play = match.current, map_in_play(match)
    if play is None or current is None or (current.phase == "freeze" and not fact.of_no_log):
        return match
    if fact.about:
        last = play.last_counted
        if current.phase != "over":
            match = replace(match, current=replace(current, doubted_by=_graver(current, fact.about)))
        elif last is not None and last.number == current.number:
            match = _amended(match, replace(last, doubted_by=_graver(last, fact.about)), changes)
    return raise_doubt(forget(match), UNREAD, UNREAD_LINE)


def _graver(played: CurrentRound | Round, about: EventDoubt) -> EventDoubt:
    """The graver doubt: one about the bomb, because the totals show nothing about it."""
    return "bomb_line" if "bomb_line" in (played.doubted_by, about) else about


def begin_block(match: Match, fact: f.ListBegun) -> Match:
    block = match.statistics or StatisticsBlock()
    return replace(match, statistics=replace(block, reading=() if fact.columns_known else None))


def add_row(match: Match, fact: f.PlayerListed) -> Match:
    block, account = match.statistics, fact.player.account
    if block is None or block.reading is None or not account:
        return match
    others = tuple([row for row in block.reading if row.account != account])
    row = PlayerTotals(account, fact.kills, fact.deaths)
    return replace(match, statistics=replace(block, reading=(*others, row)))


def tally_round(match: Match) -> Match:
    """Keep what the log's events say of the current round, which is over, until the next block is read."""
    block, current, play = match.statistics, match.current, match.map
    if block is None:
        return match
    last = play.last_counted if play else None
    tally = None
    if current is not None and last is not None and current.number == last.number:
        tally = _tally(current, last)
    return replace(match, statistics=replace(block, tally=tally))


def _tally(current: CurrentRound, last: Round) -> RoundTally:
    happened = [event for event in current.events if event.type == "kill" and not event.void]
    kills = Counter([event.actor.account for event in happened if event.actor and event.on_scoreboard])
    deaths = Counter([event.target.account for event in happened if event.target])
    deaths.update([death.player.account for death in last.other_deaths])
    accounts = sorted((kills.keys() | deaths.keys()) - {0})
    return RoundTally(
        last.id,
        tuple([PlayerTotals(account, kills[account], deaths[account]) for account in accounts]),
        tuple([player.account for player in current.dead if player.account and not deaths[player.account]]),
    )


def end_block(match: Match, changes: MatchChanges) -> Match:
    """The block is complete: compare it with the one before and the events of the round in between."""
    block, play = match.statistics, match.map
    if block is None or block.reading is None:
        return match
    last = play.last_counted if play else None
    number, after = play.number if play else 0, last.id if last else 0
    match = replace(match, statistics=StatisticsBlock(number, after, block.reading))
    if last is None or not _is_of_next_round(match, block, last):
        return match
    agree = _agree(match, block)
    if agree is False and not last.doubted_by:
        match = _amended(match, replace(last, doubted_by="statistics"), changes)
        return raise_doubt(
            match, STATISTICS, f"the game server's statistics contradict the events of round {last.number}"
        )
    if agree and last.doubted_by == "kill_line":
        return _amended(match, replace(last, doubted_by=""), changes)
    return match


def _is_of_next_round(match: Match, block: StatisticsBlock, last: Round) -> bool:
    """Whether the block was read where round `last` began, and nothing but that round was played since."""
    if block.totals is None or block.tally is None or match.restarting or match.restoring is not None:
        return False
    began = block.after == last.previous and (block.map == last.map or not (block.map or block.after))
    return began and block.tally.round == last.id


def _agree(match: Match, block: StatisticsBlock) -> bool | None:
    """Whether the totals of the players grew by what the events say; None where they do not show that of
    everybody. A player who is in no kill of the log may be a coach, whom the server kills; if the log lacks a
    kill of such a player, the killer's total shows it."""
    assert block.totals is not None and block.reading is not None and block.tally is not None
    fought = {known.account for known in match.roster}
    before = {row.account: row for row in block.totals}
    seen = {row.account: row for row in block.tally.players}
    unknown = seen.keys() | before.keys()
    for row in block.reading:
        old = before.get(row.account)
        if row.account not in fought | seen.keys() and (old is None or row.kills == old.kills):
            unknown = unknown - {row.account}
            continue
        began_anew = old is None or row.kills < old.kills or row.deaths < old.deaths
        if old is None or began_anew or row.account in block.tally.left:
            continue
        expected = seen.get(row.account, PlayerTotals(row.account, 0, 0))
        if (row.kills - old.kills, row.deaths - old.deaths) != (expected.kills, expected.deaths):
            return False
        unknown = unknown - {row.account}
    return None if unknown else True


def rounds_in_doubt(match: Match) -> list[Round]:
    """The finished rounds that count and whose events are in doubt."""
    return [played for play in match.maps for played in play.in_doubt]


def accept_events(match: Match, number: int, round_number: int) -> MatchAndChanges:
    """Let the events of a round in doubt count as they are known; raises `Conflict` where none is."""
    return _judged(match, number, round_number, doubted_by="")


def void_events(match: Match, number: int, round_number: int) -> MatchAndChanges:
    """Let what rests on the events of a round in doubt be void; raises `Conflict` where none is."""
    match, changes = _judged(match, number, round_number, doubted_by="", gap=True)
    return match, (EventsVoided(map=number, round=round_number), *changes)


def _judged(match: Match, number: int, round_number: int, **fields: Any) -> MatchAndChanges:
    found = [one for one in rounds_in_doubt(match) if (one.map, one.number) == (number, round_number)]
    if not found:
        raise Conflict(_nothing_in_doubt(match, number, round_number))
    changes: MatchChanges = []
    match = _amended(match, replace(found[0], **fields), changes)
    if not rounds_in_doubt(match):
        match = clear_doubt(match, STATISTICS)
    return match, (*changes, DetailsChanged())


def _nothing_in_doubt(match: Match, number: int, round_number: int) -> str:
    others = ", ".join([f"round {one.number} of map {one.map}" for one in rounds_in_doubt(match)])
    return (
        f"The events of round {round_number} of map {number} of match {match.number} are not in doubt; "
        f"those in doubt: {others or 'none'}."
    )


def _amended(match: Match, amended: Round, changes: MatchChanges) -> Match:
    play = map_numbered(match, amended.map)
    changes.append(RoundAmended(round=amended))
    if (restart := match.restart) is not None and restart.play.number == amended.map:
        match = replace(match, restart=replace(restart, play=_with_round(restart.play, amended)))
    return update_map(match, _with_round(play, amended))


def _with_round(play: MapPlay, amended: Round) -> MapPlay:
    rounds = [replace(amended, void=one.void) if one.id == amended.id else one for one in play.rounds]
    return replace(play, rounds=tuple(rounds))
