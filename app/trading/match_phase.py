"""Which map and which rounds of a match may be offered now."""

from functools import lru_cache

import msgspec

from app.domain.entrants import player_number
from app.domain.ids import player_urn
from app.domain.match import CurrentRound, Team
from app.trading.lines import Score
from app.trading.map_scores import maps_left, maps_won
from app.trading.match_facts import MatchFacts, RoundKey
from app.trading.player_kills import PlayerRecord, kill_model

#: How many maps after the one on offer are on offer, too.
_MAPS_AHEAD = 2
_TEAM, _DUELS = 5, 3
_NOTHING_YET = PlayerRecord(0, 0)
#: The teams as a market's specifiers name them.
TEAMS: tuple[Team, Team] = ("home", "away")


class OfferedMap(msgspec.Struct, frozen=True):
    """A map on offer, with its format and its score."""

    number: int
    max_rounds: int
    home_score: int
    away_score: int

    @property
    def rounds_won(self) -> int:
        return self.home_score + self.away_score


class MatchPhase(msgspec.Struct, frozen=True):
    """All of a match that decides which markets may be on offer: the same for all lines of a round in play,
    until a team has no players left.

    `map` is the map being played, else the next that is certain to be played; `ahead` are the next maps after
    it. One that is not played in the end voids its markets. `in_freeze` is the round in its freeze: nothing
    of it has happened yet. `on_offer` is that or the one being played, while its result is open. `next_round`
    is the one after the round in its freeze, when both its results lead to one. `live`: a round is being
    played, its freeze over: clock and fuse may change prices. `players` are those whose kills are on offer,
    by URN; `duels` pair those of the two teams.
    """

    best_of: int
    maps_won: Score
    maps_left: int
    map: OfferedMap | None
    ahead: tuple[OfferedMap, ...]
    in_freeze: RoundKey | None
    on_offer: RoundKey | None
    next_round: RoundKey | None
    live: bool
    players: tuple[str, ...]
    duels: tuple[tuple[str, str], ...]


def match_phase(facts: MatchFacts) -> MatchPhase:
    """The phase that these facts show."""
    number, current = _map_on_offer(facts), _round_in_progress(facts)
    freeze = (current.map, current.number) if current and current.phase == "freeze" else None
    ahead = range(number + 1, min(facts.match.best_of, number + _MAPS_AHEAD) + 1) if number else range(0)
    return MatchPhase(
        best_of=facts.match.best_of,
        maps_won=maps_won(facts.match),
        maps_left=maps_left(facts.match),
        map=_offered(facts, number) if number else None,
        ahead=tuple(_offered(facts, following) for following in ahead),
        in_freeze=freeze,
        on_offer=_round_on_offer(current),
        next_round=_next_round(facts, freeze) if freeze else None,
        live=current is not None and current.phase == "live",
        players=_players(facts, number) if number else (),
        duels=_duels(facts, number) if number and facts.match.head_to_heads else (),
    )


def _offered(facts: MatchFacts, number: int) -> OfferedMap:
    play = facts.play(number)
    return OfferedMap(number, play.max_rounds, play.home_score, play.away_score)


def _map_on_offer(facts: MatchFacts) -> int | None:
    if facts.over:
        return None
    match = facts.match
    if match.map:
        return facts.live.number if facts.live else None
    following = sum(play.status == "finished" for play in match.maps) + 1
    decided = max(match.score_home, match.score_away) > match.best_of // 2
    return None if decided or following > match.best_of else following


def _round_in_progress(facts: MatchFacts) -> CurrentRound | None:
    """The round that is in its freeze or being played; None once it is won."""
    current, play = facts.match.current, facts.live
    if current is None or play is None or current.map != play.number:
        return None
    return (
        None
        if current.phase == "over" or current.pending_result or (current.map, current.number) in facts.rounds
        else current
    )


def _round_on_offer(current: CurrentRound | None) -> RoundKey | None:
    """The round in progress while its result is open: both teams have players left, and it may not turn out
    to be a knife round."""
    if current is None:
        return None
    open_result = current.alive_home and current.alive_away and not current.knife
    return (current.map, current.number) if current.phase == "freeze" or open_result else None


def _next_round(facts: MatchFacts, freeze: RoundKey) -> RoundKey | None:
    play = facts.play(freeze[0])
    half = play.max_rounds // 2
    return (freeze[0], freeze[1] + 1) if max(play.home_score, play.away_score) < half else None


def _players(facts: MatchFacts, number: int) -> tuple[str, ...]:
    """The players of the map on offer, while none of its rounds is live: each kill moves their prices, and
    bettors may see it first."""
    if not _kills_on_offer(facts, number):
        return ()
    return tuple(_urn(account) for team in TEAMS for account in accounts_of(facts, number, team))


def _duels(facts: MatchFacts, number: int) -> tuple[tuple[str, str], ...]:
    """Home's best player against away's, the second best against the second, and the third against the third,
    by earlier matches: what has happened in this one changes no pair."""
    if not _kills_on_offer(facts, number):
        return ()
    forms = {one.account: one for one in facts.match.player_forms}

    def by_level(account: int) -> tuple[float, int]:
        return -kill_model().level(_NOTHING_YET, forms.get(account)), account

    home, away = (sorted(accounts_of(facts, number, team), key=by_level) for team in TEAMS)
    pairs = zip(home[:_DUELS], away[:_DUELS], strict=False)
    return tuple((_urn(one), _urn(other)) for one, other in pairs)


def _kills_on_offer(facts: MatchFacts, number: int) -> bool:
    return _between_rounds(facts) and facts.kills_known(number)


@lru_cache(maxsize=8192)
def _urn(account: int) -> str:
    return player_urn(player_number(account))


def _between_rounds(facts: MatchFacts) -> bool:
    current = facts.match.current
    return facts.live is None or (current is not None and current.phase == "freeze")


def accounts_of(facts: MatchFacts, number: int, team: Team) -> list[int]:
    """The accounts of those who play for the team; none while that is not clear."""
    absent = {one.player.account for one in facts.match.presence.absent}
    known = [one.account for one in facts.match.roster if one.team == team and one.account not in absent]
    if len(known) > _TEAM:
        known = [account for account in known if (number, account) in facts.kills]
    return known if len(known) <= _TEAM else []
