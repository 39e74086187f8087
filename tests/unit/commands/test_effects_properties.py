"""After any sequence of commands during a match, book, ledger and match agree."""

from itertools import groupby
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from app.commands import match_commands as c
from app.commands.change_drafts import compose
from app.commands.effects import effect_of
from app.commands.market_actions import ManualMarketAction, no_action
from app.domain.market import Book, MarketStatus
from app.domain.match import Match, Status
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.kit.errors import Conflict, Invalid, NotFound
from tests.unit.commands.traded_map import reaction_to
from tests.unit.domain.play import Server, new_match
from tests.unit.trading.trader import STATES

KEYS = [
    (13, "map=1|round=1|team=home"),
    (13, "map=1|round=2|team=away"),
    (6, "map=1|team=home"),
    (1, "team=home"),
    (8, "map=1|threshold=18.5"),
    (99, ""),
]
teams = st.sampled_from(["team_a", "team_b"])
keys = st.sampled_from(KEYS)


def on_market(kind: Any, **fields: Any) -> st.SearchStrategy[c.Command]:
    return keys.flatmap(
        lambda key: st.builds(
            kind, market_id=st.just(key[0]), specifiers=st.just(key[1]), reason=st.just("r"), **fields
        )
    )


commands = st.one_of(
    on_market(c.VoidMarket),
    on_market(c.VoidMarket, start_time=st.just(5), end_time=st.integers(5, 6)),
    on_market(c.SettleMarket, result=st.sampled_from(["won", "lost"])),
    on_market(c.RollBackMarket, release=st.booleans()),
    st.builds(c.RenameTeam, team=teams, name=st.sampled_from(["Amber Foxes", "New Name"])),
    st.builds(c.SetFormat, bo_type=st.sampled_from(["bo1", "bo3", "bo5"])),
    st.builds(c.SetFormat, max_rounds=st.sampled_from([8, 24, 30])),
    st.just(c.Suspend()),
    st.just(c.Unsuspend()),
    st.just(c.Cancel()),
    st.builds(c.AwardMap, winner=teams),
    st.builds(c.AwardMatch, winner=teams),
)
steps = st.one_of(st.sampled_from(["home", "away", "kill"]), commands)


class TradedMatch:
    """A match with a book and a ledger, after one transaction after another."""

    def __init__(self) -> None:
        self.server = Server(new_match(3))
        self.book: Book = {}
        self.ledger: list[LedgerEntry] = []
        self.seen = 0
        self.envelopes: list[str] = []
        self.server.start_map()
        self.settle()

    def settle(self) -> None:
        changes = self.server.changes[self.seen :]
        self.seen = len(self.server.changes)
        self._react(self.server.match, changes)

    def execute(self, command: c.Command) -> None:
        effect = effect_of(command, self.server.match, self.server.later())
        before, self.server.match = self.server.match, effect.after
        try:
            self._react(before, effect.changes, effect.action)
        except (Conflict, NotFound):
            self.server.match = before
            raise

    def _react(self, before: Match, changes: Any, action: ManualMarketAction = no_action) -> None:
        """One transaction: its change rows, and the book and the ledger after it."""
        after = self.server.match
        reaction = reaction_to(after, changes, self.book, action, self.server.now)
        drafts = compose(before, after, changes, self.book, reaction.markets, reaction.entries)
        self.envelopes = [
            message for message, _ in groupby(drafts, key=lambda draft: draft.message) if message
        ]
        self.ledger += reaction.entries
        self.book = self.book | {market.key: market for market in reaction.markets}

    def play(self, step: str) -> None:
        if step == "kill":
            self.server.opening_kill("home")
        else:
            self.server.rounds("home" if step == "home" else "away")
        self.settle()


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=14))
def test_book_ledger_and_match_agree_after_every_step(script: list[Any]) -> None:
    traded = TradedMatch()
    for step in script:
        before = traded.server.match, traded.book, list(traded.ledger)
        try:
            traded.play(step) if isinstance(step, str) else traded.execute(step)
        except (Conflict, NotFound, Invalid):
            assert (traded.server.match, traded.book, traded.ledger) == before
        _check_match(traded.server.match)
        _check_ledger(traded)
        _check_manual_settlements(traded, before[1])
        assert len(traded.envelopes) == len(set(traded.envelopes)), "what happens together is drafts together"


def test_an_awarded_map_is_one_cancellation() -> None:
    """The award voids lines as a manual action, and the engine voids what can no longer be played."""
    traded = TradedMatch()
    traded.play("home")
    traded.execute(c.AwardMap(winner="team_a"))
    voids = [entry for entry in traded.ledger if entry.new_status is LedgerStatus.VOIDED]
    assert {entry.settled_by for entry in voids} == {"admin", "engine"}
    assert traded.envelopes == ["bet_settlement", "bet_cancel", "odds_change"]


def _check_match(match: Match) -> None:
    won = [play.winner for play in match.maps if play.status == "finished"]
    assert (match.score_home, match.score_away) == (won.count("home"), won.count("away"))
    for play in match.maps:
        assert play.home_score == sum(one.winner == "home" for one in play.counted)
    assert msgspec.json.decode(msgspec.json.encode(match), type=Match) == match


def _check_ledger(traded: TradedMatch) -> None:
    """Every market's entries form a chain that ends with the market's status."""
    status: dict[Any, LedgerStatus] = {}
    for entry in traded.ledger:
        assert entry.previous_status is status.get(entry.key, LedgerStatus.PENDING)
        status[entry.key] = entry.new_status
    for key, market in traded.book.items():
        assert status.get(key, LedgerStatus.PENDING) is STATES[market.status]
        assert not (market.open and traded.server.match.over and not market.held)
        if traded.server.match.suspended or market.held:
            assert market.status is not MarketStatus.ACTIVE


def _check_manual_settlements(traded: TradedMatch, before: Book) -> None:
    """A manual settlement is changed by operators only."""
    for key, market in before.items():
        after = traded.book[key]
        if market.closed and market.settled_by == "admin" and after != market:
            last = [entry for entry in traded.ledger if entry.key == key]
            assert any(entry.settled_by == "admin" for entry in last[-2:])
    if traded.server.match.status is Status.CANCELLED:
        assert not any(market.status is MarketStatus.ACTIVE for market in traded.book.values())
