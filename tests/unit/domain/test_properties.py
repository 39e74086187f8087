"""Whatever a source reports, in whatever order, the match stays consistent."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import changes as c
from app.domain import facts as f
from app.domain.match import Match, MatchPlayer, Side, Team
from app.domain.transitions import fold
from tests.unit.domain.play import AWAY, HOME, TEAMS, Server, new_match

SIDES: tuple[Side, ...] = ("CT", "T")
MAPS = ("de_mirage", "de_nuke")
players = st.sampled_from([*TEAMS["home"], *TEAMS["away"], MatchPlayer(0, "Bot Ada")])
sides = st.sampled_from(SIDES)
scores = st.integers(0, 14)
health = st.integers(0, 100)
money = st.integers(0, 16_000)
CLOCKS = ("round_time", "defuse_round_time", "freeze_time", "fuse_time")
items = st.sampled_from(["weapon_ak47", "ak47", "flashbang", "knife_t", "kevlar(100)", "item_assaultsuit"])
maps = st.sampled_from(MAPS)


def facts_on_equipment(at: st.SearchStrategy[int]) -> st.SearchStrategy[f.Fact]:
    return st.one_of(
        st.builds(f.ItemAcquired, at=at, player=players, side=sides),
        st.builds(f.ItemAcquired, at=at, player=players, side=sides, item=items),
        st.builds(f.Equipped, at=at, player=players, side=sides, items=st.tuples(items, items)),
        st.builds(f.ItemLost, at=at, player=players, item=items),
        st.builds(
            f.MoneyChanged, at=at, player=players, side=sides, money=money, refund=st.sampled_from([0, 650])
        ),
        st.builds(f.PlayerListed, at=at, player=players, side=sides, money=money),
        st.builds(f.ClockSet, at=at, name=st.sampled_from(CLOCKS), seconds=st.floats(0, 300)),
        st.builds(
            f.Hurt,
            at=at,
            victim=players,
            side=sides,
            health=health,
            armour=health,
            shooter=st.none() | players,
        ),
    )


def facts() -> st.SearchStrategy[f.Fact]:
    at = st.integers(0, 50_000)
    plain = (f.WarmupStarted, f.WarmupEnded, f.RestartAnnounced, f.FreezeStarted, f.RoundStarted)
    bare = (*plain, f.RoundEnded, f.BombExploded, f.DataComplete, f.SilenceEnded, f.ListBegun, f.ListEnded)
    return st.one_of(
        facts_on_equipment(at),
        *(st.builds(kind, at=at) for kind in bare),
        st.builds(f.MapLoaded, at=at, name=maps),
        st.builds(f.FormatSet, at=at, max_rounds=st.sampled_from([4, 24, 30, None])),
        st.builds(f.PlayStarted, at=at, map_name=maps),
        st.builds(f.SideNamed, at=at, side=sides, team=st.sampled_from([HOME, AWAY, "Nobody", ""])),
        st.builds(f.PlayerLeft, at=at, player=players, side=st.none() | sides),
        st.builds(f.PlayerJoined, at=at, player=players, side=sides),
        st.builds(f.SideSwitched, at=at, player=players, side=sides),
        st.builds(
            f.Killed,
            at=at,
            killer=players,
            side=sides,
            victim=players,
            victim_side=sides,
            weapon=st.sampled_from(["ak47", "knife_t", "awp"]),
        ),
        st.builds(f.Assisted, at=at, assister=players, victim=players),
        st.builds(f.Died, at=at, victim=players, side=sides),
        st.builds(f.BombPlanted, at=at, player=players, site=st.sampled_from(["A", "B"])),
        st.builds(f.BombDefused, at=at, player=players),
        st.builds(f.DefuseBegun, at=at, player=players, kit=st.booleans()),
        st.builds(f.PlantBegun, at=at, player=players),
        st.builds(
            f.RoundWon,
            at=at,
            side=sides,
            reason=st.sampled_from(["kills", "bomb", "time", "defuse"]),
            ct_score=scores,
            t_score=scores,
        ),
        st.builds(
            f.ScoreReported,
            at=at,
            ct_score=scores,
            t_score=scores,
            rounds_played=st.integers(-1, 28),
            map_name=st.sampled_from([*MAPS, ""]),
        ),
        st.builds(f.Paused, at=at, reason=st.just("TimeOutTs")),
        st.builds(f.Resumed, at=at, reason=st.just("TimeOutTs")),
        st.builds(f.RestoreAnnounced, at=at, round=st.integers(0, 5)),
        st.builds(f.MapEnded, at=at, map_name=maps, ct_score=scores, t_score=scores),
        st.builds(f.DataLost, at=at, reason=st.just("silence")),
    )


#: What a server does next; parameters are drawn beside it.
USUAL = ("round", "round", "round", "freeze", "freeze", "live", "kill", "end")
STEPS = (*USUAL, "start", "restore", "swap", "lie", "repeat")


@st.composite
def stories(draw: st.DrawFn) -> list[f.Fact]:
    """A plausible account with things going wrong in it, as facts."""
    server = Recorder.started(new_match(best_of=3))
    for step in draw(st.lists(st.sampled_from(STEPS), max_size=40)):
        team: Team = draw(st.sampled_from(("home", "away")))
        match step:
            case "round":
                server.rounds(team)
            case "freeze":
                server.freeze()
            case "live":
                server.go_live()
            case "kill":
                server.kill(
                    team,
                    draw(st.integers(0, 4)),
                    draw(st.integers(0, 4)),
                    draw(st.sampled_from(["knife", "awp"])),
                )
            case "end":
                end_map(server, team)
            case "start":
                server.start_play()
            case "restore":
                server.freeze_at(server.score["home"] // 2, server.score["away"] // 2)
            case "swap":
                server.swap()
            case "lie":
                server.report(draw(facts()))
            case "repeat":
                server.report(*server.facts[-draw(st.integers(1, 6)) :])
    return server.facts


class Recorder(Server):
    """A server that only writes its facts down."""

    def __init__(self, match: Match | None = None) -> None:
        super().__init__(match)
        self.facts: list[f.Fact] = []

    def report(self, *facts: f.Fact) -> tuple[c.MatchChange, ...]:
        self.facts.extend(facts)
        return ()


def end_map(server: Server, winner: Team) -> None:
    """Play on until `winner` has thirteen rounds, end the map, start the other one."""
    while server.score[winner] < 13:
        if sum(server.score.values()) == 12:
            server.swap()
        server.freeze()
        server.round(winner)
    server.game_over()
    server.start_map(MAPS[server.map_name == MAPS[0]])


relaxed = settings(deadline=None)
accounts = st.one_of(stories(), st.lists(facts(), max_size=60))


def coherent(match: Match) -> None:
    for play in match.maps:
        won = [one.winner for one in play.counted]
        seen = [one.number for one in play.counted]
        if play.status == "live":
            assert len(won) + len(play.unseen) == play.rounds_won
            assert won.count("home") <= play.home_score and won.count("away") <= play.away_score
        assert sorted([*seen, *play.unseen]) == list(range(1, len(won) + len(play.unseen) + 1))
        assert seen == sorted(seen)
        assert all(one.id < match.next_history_id for one in play.rounds)
    assert sum(play.status == "live" for play in match.maps) <= 1
    assert match.score_home + match.score_away <= match.best_of
    assert bool(match.suspended) == bool(match.doubts)
    if match.over:
        assert match.current is None


@settings(max_examples=300, deadline=None)
@given(accounts)
def test_score_equals_rounds_won_after_every_fact(account: list[f.Fact]) -> None:
    match = new_match(best_of=3)
    for fact in account:
        match, _ = fold(match, (fact,))
        coherent(match)


@relaxed
@given(accounts)
def test_numbers_are_unique_and_rise(account: list[f.Fact]) -> None:
    match = new_match(best_of=3)
    last, seen = 0, set()
    for fact in account:
        before = match.next_history_id
        match, changes = fold(match, (fact,))
        assert match.next_history_id >= before
        for number in numbers(changes):
            assert number not in seen
            seen.add(number)
        last = max([last, *seen])
        assert last < match.next_history_id


def numbers(changes: tuple[c.MatchChange, ...]) -> list[int]:
    found = []
    for change in changes:
        if isinstance(change, c.EventAdded):
            found.append(change.event.id)
        elif isinstance(change, c.RoundFinished):
            found.append(change.round.id)
        elif isinstance(change, c.PlayRecorded):
            found += [one.id for one in change.rounds]
        elif isinstance(change, c.MapFinished):
            found.append(change.map.end_id or 0)
    return found


@relaxed
@given(accounts, st.data())
def test_folding_in_any_batches_gives_the_same_state(account: list[f.Fact], data: st.DataObject) -> None:
    whole, _ = fold(new_match(best_of=3), account)
    match, start = new_match(best_of=3), 0
    while start < len(account):
        end = start + data.draw(st.integers(1, 20))
        match, _ = fold(match, account[start:end])
        start = end
    assert match == whole


@relaxed
@given(accounts)
def test_changes_add_up_to_the_state(account: list[f.Fact]) -> None:
    """Rounds finished, less rounds voided, are the rounds that count; and every start is reported once."""
    match, changes = fold(new_match(best_of=3), account)
    counting: set[int] = set()
    recorded: set[int] = set()
    for change in changes:
        if isinstance(change, c.RoundFinished):
            counting.add(change.round.id)
        elif isinstance(change, c.PlayRecorded):
            recorded |= {one.id for one in change.rounds}
        elif isinstance(change, c.RoundsVoided):
            void = {one.id for one in change.rounds}
            assert void <= counting
            counting -= void
            recorded |= void
        elif isinstance(change, c.RoundsReinstated):
            again = {one.id for one in change.rounds}
            assert again <= recorded
            counting |= again
    assert counting == {one.id for play in match.maps for one in play.counted}
    assert sum(isinstance(change, c.MatchStarted) for change in changes) == (match.started_at is not None)
    assert sum(isinstance(change, c.MatchFinished) for change in changes) == match.over


@relaxed
@given(accounts)
def test_void_events_were_reported_and_are_gone(account: list[f.Fact]) -> None:
    match, changes = fold(new_match(best_of=3), account)
    reported = {change.event.id for change in changes if isinstance(change, c.EventAdded)}
    reported |= {one.id for change in changes if isinstance(change, c.PlayRecorded) for one in change.events}
    void: set[int] = set()
    for change in changes:
        if isinstance(change, c.RoundsVoided):
            void |= set(change.events)
        elif isinstance(change, c.RoundsReinstated):
            assert set(change.events) <= reported
            void -= set(change.events)
    assert void <= reported
    standing = {number for play in match.maps for one in play.counted for number in one.events}
    of_current_round = {event.id for event in match.current.events} if match.current else set()
    assert not void & (standing | of_current_round)


@relaxed
@given(accounts)
def test_a_match_is_stored_whole(account: list[f.Fact]) -> None:
    match, _ = fold(new_match(best_of=3), account)
    assert msgspec.json.decode(msgspec.json.encode(match), type=Match) == match
