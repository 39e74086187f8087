"""A price that moves further than what has happened explains: the model or the state is wrong.

What explains a move of a probability since its price was set, the limits added up:

- always: `_ALWAYS`; of a number of kills, where the model has steps, `_OF_KILLS`;
- during a round: `_A_SECOND` for each second, `_WORK_A_SECOND` while a plant or a defuse is under way, up to
  `_MOST_SECONDS`; in the last seconds of clock or fuse, when what can still be done in time changes from one
  moment to the next, `_LARGE`;
- another state of the round: what players carry, their health and money: `_STATE`; what they bought until the
  round goes live, a plant or a defuse that began: `_LARGE`;
- what decides rounds: any move. That is a kill or another death, a plant, a defuse, a result, a round that is
  void, players who come or go, another format, other sides, an operator's command; a plant or defuse that
  should have succeeded by now; and that nothing was known of the round. But kills and plants of one team
  explain a move of the round against it only up to `_STATE`.

The limits are above what the model does in real and simulated play (`docs/pricing.md`).
"""

from collections.abc import Iterable, Sequence

import msgspec

from app.domain import changes as c
from app.domain.market import ACTIVE, Book, Market, market_name
from app.domain.match import CurrentRound, Match, RoundKnowledge, Team, TimelineEvent, other_team
from app.trading.registry import RULES
from app.trading.round_view import round_state
from app.trading.rules import KILL_FAMILIES, parse_specifiers

_ALWAYS, _A_SECOND, _MOST_SECONDS, _STATE, _LARGE = 0.05, 0.03, 0.30, 0.30, 0.60
_OF_KILLS = 0.15
_WORK_A_SECOND, _LAST_SECONDS = 0.12, 10
#: Changes after which prices may be any others.
_DECISIVE = (
    c.MatchStarted,
    c.MapStarted,
    c.RoundFinished,
    c.RoundAmended,
    c.RoundsVoided,
    c.RoundsReinstated,
    c.MapFinished,
    c.MatchFinished,
    c.MatchCancelled,
    c.FormatChanged,
    c.DetailsChanged,
    c.ControlsChanged,
)
_ROUND_WINNER = 13


class PriceMove(msgspec.Struct, frozen=True):
    """A market whose probability moved from `before` to that in `market`."""

    market: Market
    before: float

    @property
    def size(self) -> float:
        return self.market.probability - self.before

    @property
    def text(self) -> str:
        name = market_name(*self.market.key)
        return f"{name} moved from {self.before:.3f} to {self.market.probability:.3f}"


def unexplained_move(
    before: Match,
    after: Match,
    changes: Sequence[c.MatchChange],
    book: Book,
    markets: Iterable[Market],
    now: int,
) -> PriceMove | None:
    """The largest move of a price that nothing explains; None when all are explained.

    `markets` are those that a reaction at `now` (Unix ms) to `changes` changed, `book` has them before it.
    Only prices that were on offer and still are count as moved.
    """
    if before.shown == RoundKnowledge() or any(isinstance(change, _DECISIVE) for change in changes):
        return None
    favoured = _favoured(before, after, changes)
    state = max(_by_state(before, after, changes), _STATE if favoured else 0.0)
    found = [
        move
        for move in _moves(book, markets)
        if (beyond := abs(move.size) - _always(move.market) - state) > 0
        and not _is_decided_by(favoured, move)
        and beyond > _by_time(before, book[move.market.key], now)
        and not _should_be_done(before, book[move.market.key].priced_at, now)
    ]
    # Both sides of a market move alike: which one is named must not depend on the order of the book.
    return max(found, key=lambda move: (abs(move.size), move.market.key), default=None)


def _should_be_done(match: Match, since: int, now: int) -> bool:
    """Whether a plant or a defuse was under way at `since` and is not at `now`, without any line: it was
    stopped, or its line is about to come."""
    before, after = round_state(match, since), round_state(match, now)
    if before is None or after is None:
        return False
    planting = before.plant_seconds_left is not None and after.plant_seconds_left is None
    return planting or (before.defuse is not None and after.defuse is None)


def _moves(book: Book, markets: Iterable[Market]) -> Iterable[PriceMove]:
    for market in markets:
        old = book.get(market.key)
        if old is not None and old.status is market.status is ACTIVE:
            yield PriceMove(market, old.probability)


def _always(market: Market) -> float:
    return _OF_KILLS if RULES[market.type_id].family in KILL_FAMILIES else _ALWAYS


def _by_time(match: Match, old: Market, now: int) -> float:
    if match.current is None or match.current.phase != "live":
        return 0.0
    state = round_state(match, now)
    if state is not None and state.seconds_left is not None and state.seconds_left < _LAST_SECONDS:
        return _LARGE
    a_second = _WORK_A_SECOND if match.shown.plant or match.shown.defuse else _A_SECOND
    return min(a_second * max(now - old.priced_at, 0) / 1000, _MOST_SECONDS)


def _favoured(before: Match, after: Match, changes: Sequence[c.MatchChange]) -> frozenset[Team]:
    """The teams for whom something decisive happened in the round; both where it is not clear for whom."""
    both: frozenset[Team] = frozenset(("home", "away"))
    events = [change.event for change in changes if isinstance(change, c.EventAdded)]
    teams = frozenset(team for event in events for team in _favoured_by(event))
    if before.presence != after.presence or before.other_deaths != after.other_deaths:
        return both
    if not events and _players(before.current) != _players(after.current):
        return both
    return teams


def _favoured_by(event: TimelineEvent) -> Iterable[Team]:
    if event.actor_team is None:
        return "home", "away"
    if event.type == "kill" and event.target_team == event.actor_team:
        return (other_team(event.actor_team),)
    return (event.actor_team,)


def _players(current: CurrentRound | None) -> tuple[int, int] | None:
    return (current.alive_home, current.alive_away) if current else None


def _by_state(before: Match, after: Match, changes: Sequence[c.MatchChange]) -> float:
    if any(isinstance(change, c.RoundOpened | c.RoundLive) for change in changes):
        return _LARGE
    if before.shown.plant != after.shown.plant or before.shown.defuse != after.shown.defuse:
        return _LARGE
    if before.loadouts == after.loadouts and before.shown == after.shown:
        return 0.0
    return _LARGE if after.current is not None and after.current.phase == "freeze" else _STATE


def _is_decided_by(favoured: frozenset[Team], move: PriceMove) -> bool:
    """Whether something decisive happened that explains a move of any size in this direction."""
    team = parse_specifiers(move.market.specifiers).team
    if move.market.type_id != _ROUND_WINNER or len(favoured) != 1:
        return bool(favoured)
    return (team in favoured) is (move.size > 0)
