"""A simulated map with three bettors: the public, somebody who sees play before our log does, and somebody
who knows how strong both teams are, their form on this map included. The product knows strengths with the
error that it assumes of them, and on every other map the reference price of a market that knows them.

A bettor's stakes on one market come to a limit at most; liquidity is 1. What a group's public stakes comes to
liquidity in all, in as many bets as there were occasions.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Literal

import msgspec
from msgspec.structs import replace

from app.domain.market import ACTIVE, Market, MarketKey, Result
from app.domain.match import Match
from app.domain.references import MarketAnchor
from app.sandbox.simulator.map_play import POINTS_PER_LOGIT
from app.sandbox.simulator.market_maker import home_chance
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.trading.engine import react
from app.trading.forecast import Forecast
from app.trading.match_facts import facts_from_events
from app.trading.model import logistic, logit
from app.trading.ratings import rating_model
from app.trading.reference_prices import weight
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from app.trading.settling import settlement_of
from app.trading.stake_advice import LEAD_SECONDS, StakeAdvice, StakeAdvisor
from scripts.bench.courtsider_play import DELAY, PRICING, Batch, Observation, Second, batches, stands
from scripts.bench.simulated_maps import BEGIN, match_of, plan_of

#: What is advised: nothing, so that one bettor may stake the liquidity after the usual delay; stakes alone;
#: stakes and delays.
Policy = Literal["none", "stakes", "both"]
POLICIES: tuple[Policy, ...] = ("none", "stakes", "both")
Bettor = Literal["public", "ahead", "strength"]
BETTORS: tuple[Bettor, ...] = ("public", "ahead", "strength")
#: Seconds by which one bettor is ahead of our log.
LEADS = range(DELAY, LEAD_SECONDS + 1)
_PUBLIC_BETS = 3  #: of a watched round, on each group on offer
_SMALL = 0.01  #: what one of the public stakes at once, of the liquidity
_STRENGTH_BETS = 2  #: of a watched round: in freeze time, and in play
_MARKET_NOISE = 0.1  #: logits
_OLDEST_REFERENCE = 3 * 3600
_MILLIS = 1000


class Account(msgspec.Struct):
    """What one bettor staked on a map, and won beyond it, in units of liquidity."""

    turnover: float = 0.0
    profit: float = 0.0


Accounts = dict[tuple[Policy, Bettor], Account]


class _Stake(msgspec.Struct, frozen=True):
    """An accepted bet. `asked`: one of the public's, whose stake is in units of what its group's occasions
    come to."""

    policy: Policy
    bettor: Bettor
    key: MarketKey
    group: str
    odds: float
    stake: float


def known_match(plan: MatchPlan, rng: Random) -> Match:
    """The match as the product knows it."""
    spread = rating_model().of_strength(1.0, 0).spread
    match = match_of(plan)
    match = replace(
        match,
        home_strength=plan.home.points + rng.gauss(0, spread),
        away_strength=plan.away.points + rng.gauss(0, spread),
    )
    if rng.random() < 0.5:
        return match
    age = rng.uniform(0, _OLDEST_REFERENCE)
    truth = logit(home_chance(plan.home.points - plan.away.points, plan.best_of))
    fresh = 1 - age / PRICING.reference_stale_seconds
    home = logistic(truth + rng.gauss(0, _MARKET_NOISE))
    return replace(match, anchor=MarketAnchor(home, weight(1, fresh), 1, BEGIN - int(age * _MILLIS)))


class BettorsAtPlay(Observation):
    """One map; bets are placed before play and in the rounds that are watched."""

    def __init__(self, plan: MatchPlan, level: float, share: float) -> None:
        rng = Random(f"bettors of {plan.seed}")
        super().__init__(known_match(plan, rng), BEGIN, share, rng)
        self._level = level  #: by how much home is better, in logits of a round
        self._stakes: list[_Stake] = []
        self._staked: dict[tuple[Policy, Bettor, MarketKey], float] = defaultdict(float)
        self._asked: dict[str, int] = defaultdict(int)

    def accounts(self, arriving: Iterable[Batch]) -> Accounts:
        """What each bettor staked and won, under each policy."""
        self._bet_before_play()
        self.watch(arriving)
        return self._settled()

    def _bet_before_play(self) -> None:
        reaction = react(self.match, (), {}, now=BEGIN, may_price=True, pricing=PRICING)
        before = Second(BEGIN, self.match, 0, {one.key: one for one in reaction.markets}, frozenset())
        self.watched = [before] * (LEAD_SECONDS + 1)
        self._bet_by_strength(0)
        for _ in range(_PUBLIC_BETS):
            self._bet_by_public(0)

    def _place_bets(self) -> None:
        last = len(self.watched) - LEAD_SECONDS - 1
        if last < 1:
            return
        freeze = [each for each in range(last) if self._in_freeze(each)]
        for index in [*freeze[:1], *(self.rng.randrange(last) for _ in range(_STRENGTH_BETS - 1))]:
            self._bet_by_strength(index)
        for _ in range(_PUBLIC_BETS):
            self._bet_by_public(self.rng.randrange(last))
        for index, second in enumerate(self.watched):
            if self._occasion(second) is not None:
                self._bet_ahead(index)

    def _in_freeze(self, index: int) -> bool:
        current = self.watched[index].match.current
        return current is not None and current.phase == "freeze"

    def _bet_by_public(self, index: int) -> None:
        second = self.watched[index]
        advisor = self._advisor(second)
        groups: dict[str, list[Market]] = defaultdict(list)
        for market in second.book.values():
            if market.status is ACTIVE:
                groups[market.group].append(market)
        for group, members in groups.items():
            self._asked[group] += 1
            (market,) = self.rng.choices(members, [1 / float(one.odds) for one in members])
            advice = advisor.advise(market)
            for policy in POLICIES:
                if self._is_accepted(index, market, policy, advice):
                    part = 1.0 if policy == "none" else min(advice.max_stake / _SMALL, 1.0)
                    self._stakes.append(_Stake(policy, "public", market.key, group, float(market.odds), part))

    def _bet_by_strength(self, index: int) -> None:
        self._bet_on_value(index, "strength", self.watched[index], self._level)

    def _bet_ahead(self, index: int) -> None:
        """What somebody bets who sees this second some seconds before we do."""
        placed = index - self.rng.choice(LEADS)
        if 0 <= placed < len(self.watched) - LEAD_SECONDS:
            self._bet_on_value(placed, "ahead", self.watched[index])

    def _bet_on_value(self, index: int, bettor: Bettor, known: Second, level: float | None = None) -> None:
        """The most on every market that has value by the state that is `known`, and by home's skill, where
        that is, and stands through the delay."""
        standing = {
            key: market
            for key, market in self.watched[index].book.items()
            if market.status is ACTIVE
            and (not index or stands(market, self.watched[index + 1].book.get(key)))
        }
        chances = self._chances(known, standing, level)
        wanted = [key for key, market in standing.items() if float(market.odds) * chances[key] > 1]
        advisor = self._advisor(self.watched[index]) if wanted else None
        for key in wanted:
            assert advisor is not None
            market = standing[key]
            advice = advisor.advise(market)
            for policy in POLICIES:
                if self._is_accepted(index, market, policy, advice):
                    self._stake(policy, bettor, market, advice)

    def _stake(self, policy: Policy, bettor: Bettor, market: Market, advice: StakeAdvice) -> None:
        most = 1.0 if policy == "none" else advice.max_stake
        left = most - self._staked[policy, bettor, market.key]
        if left > 0:
            self._staked[policy, bettor, market.key] += left
            self._stakes.append(_Stake(policy, bettor, market.key, market.group, float(market.odds), left))

    def _is_accepted(self, index: int, market: Market, policy: Policy, advice: StakeAdvice) -> bool:
        delay = advice.bet_delay_seconds if policy == "both" else DELAY
        return stands(market, self.watched[index + delay].book.get(market.key))

    def _advisor(self, second: Second) -> StakeAdvisor:
        facts = facts_from_events(second.match, self.events[: second.known])
        return StakeAdvisor(Forecast(facts, second.now), 1.0, DELAY)

    def _settled(self) -> Accounts:
        facts = facts_from_events(self.match, self.events)
        results: dict[MarketKey, Result | None] = {}
        found: Accounts = defaultdict(Account)
        for bet in self._stakes:
            if bet.key not in results:
                decided = settlement_of(RULES[bet.key[0]], facts, parse_specifiers(bet.key[1]))
                results[bet.key] = decided.result if decided else None
            result = results[bet.key]
            if result is Result.WON or result is Result.LOST:
                stake = bet.stake / self._asked[bet.group] if bet.bettor == "public" else bet.stake
                account = found[bet.policy, bet.bettor]
                account.turnover += stake
                account.profit += stake * (bet.odds - 1 if result is Result.WON else -1)
        return dict(found)


def of_map(seed: int, share: float) -> Accounts:
    """The bettors of one simulated map, of whose rounds this share is watched."""
    plan = plan_of(seed)
    lines, truth = simulate(plan)
    level = (plan.home.points - plan.away.points) / POINTS_PER_LOGIT
    level += truth.maps[0].form["home"] - truth.maps[0].form["away"]
    return BettorsAtPlay(plan, round(level, 1), share).accounts(batches((one.at, one.text) for one in lines))


def profits(maps: Sequence[Accounts], policy: Policy, bettors: Iterable[Bettor]) -> list[float]:
    """What these bettors won together on each map."""
    wanted = [(policy, bettor) for bettor in bettors]
    return [sum(accounts[key].profit for key in wanted if key in accounts) for accounts in maps]


def turnovers(
    maps: Sequence[Mapping[tuple[Policy, Bettor], Account]], policy: Policy, bettor: Bettor
) -> float:
    """What this bettor staked on a map on average."""
    return sum(one[policy, bettor].turnover for one in maps if (policy, bettor) in one) / len(maps)
