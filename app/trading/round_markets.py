"""Market types of one round. They rest on the round's result or on its events."""

from collections.abc import Callable, Iterable
from functools import partial

from app.domain.match import TimelineEvent, WinReason
from app.trading import model
from app.trading.coefficients import load
from app.trading.forecast import Forecast
from app.trading.lines import Distribution, LineSequence, counted
from app.trading.match_facts import MatchFacts, RoundKey
from app.trading.match_phase import TEAMS, MatchPhase
from app.trading.propositions import PLANTED_ENDINGS, OfEnding, OfPlay, OfRounds
from app.trading.round_endings import Endings, first_kill, first_kill_and_round, more_kills
from app.trading.round_kills import endings_of, kill_state
from app.trading.rules import (
    NO_RESULT,
    Ladder,
    Price,
    Propose,
    Rule,
    Settle,
    Settlement,
    Specifiers,
    decide,
    of_round,
    of_team,
    opposite,
    void,
    with_threshold,
)

#: What the events of a round are about (`OfPlay.about`).
FIRST_KILL, HEADSHOT, AWP_KILL, KILLS = "first kill", "headshot", "AWP kill", "kills"
Make = Callable[[RoundKey], Iterable[Specifiers]]


def _round_key(specifiers: Specifiers) -> RoundKey:
    return specifiers.map, specifiers.round


def _in_freeze(make: Make, phase: MatchPhase) -> Iterable[Specifiers]:
    return make(phase.in_freeze) if phase.in_freeze else ()


def _on_offer(make: Make, phase: MatchPhase) -> Iterable[Specifiers]:
    return make(phase.on_offer) if phase.on_offer else ()


def _teams(round_key: RoundKey) -> Iterable[Specifiers]:
    return (Specifiers(map=round_key[0], round=round_key[1], team=team) for team in TEAMS)


def _single(round_key: RoundKey) -> Iterable[Specifiers]:
    return (Specifiers(map=round_key[0], round=round_key[1]),)


def _winner_offers(phase: MatchPhase) -> Iterable[Specifiers]:
    for round_key in (phase.on_offer, phase.next_round):
        if round_key:
            yield from _teams(round_key)


def _winner_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return of_team(forecast.round_win(specifiers.map, specifiers.round), specifiers)


def _of_winner(forecast: Forecast, specifiers: Specifiers) -> OfRounds:
    return OfRounds(specifiers.map, (((specifiers.round, specifiers.team == "home"),),))


def _winner(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    played = facts.rounds.get(_round_key(specifiers))
    return (
        decide(played.winner == specifiers.team, (played.id,), f"round won by {played.winner}")
        if played
        else None
    )


def _all_known(facts: MatchFacts, round_key: RoundKey) -> bool:
    """Whether every event of a round, as far as it was played, is known here."""
    current = facts.match.current
    in_progress = current is not None and (current.map, current.number) == round_key
    return in_progress or facts.ignores_gaps or facts.complete(round_key)


def _kills(facts: MatchFacts, round_key: RoundKey) -> tuple[TimelineEvent, ...]:
    return facts.counted_kills(round_key) if _all_known(facts, round_key) else ()


def _void_without_result(facts: MatchFacts, round_key: RoundKey, reason: str) -> Settlement | None:
    """A void: the round is over without a result for this market, or the log did not show it."""
    played = facts.rounds.get(round_key)
    if played is None or not facts.complete(round_key):
        return None
    return void(NO_RESULT, (played.id,), "data was missing in this round" if facts.gap(round_key) else reason)


def _first_kill(
    condition: Callable[[TimelineEvent, Specifiers], bool], facts: MatchFacts, specifiers: Specifiers
) -> Settlement | None:
    kills = _kills(facts, _round_key(specifiers))
    if not kills or facts.gap(_round_key(specifiers)) or kills[0].actor_team is None:
        return _void_without_result(facts, _round_key(specifiers), "the round ended without a kill")
    return decide(condition(kills[0], specifiers), (kills[0].id,), "first kill of the round")


def _opening_price(forecast: Forecast, specifiers: Specifiers) -> float:
    chance = first_kill(forecast.round_logit(specifiers.map), forecast.home_is_ct(specifiers.map))
    return of_team(chance, specifiers)


def _of_first_kill(forecast: Forecast, specifiers: Specifiers) -> OfPlay:
    first, win = _opening_price(forecast, specifiers), forecast.round_win(*_round_key(specifiers))
    both = first_kill_and_round(first, of_team(win, specifiers))
    won, lost = both / of_team(win, specifiers), (first - both) / (1 - of_team(win, specifiers))
    home_won, home_lost = (won, lost) if specifiers.team == "home" else (lost, won)
    return OfPlay(*_round_key(specifiers), FIRST_KILL, home_won, home_lost)


def _independent_of_winner(about: str, price: Price, forecast: Forecast, specifiers: Specifiers) -> OfPlay:
    """Something that is as likely whichever team wins the round."""
    chance = price(forecast, specifiers)
    return OfPlay(*_round_key(specifiers), about, chance, chance)


def _of_endings(ways: frozenset[str], forecast: Forecast, specifiers: Specifiers) -> OfEnding:
    return OfEnding(*_round_key(specifiers), ways)


def _rounds_since_pistol(forecast: Forecast, specifiers: Specifiers) -> int | None:
    """0 in a pistol round; None in overtime, which has none."""
    play = forecast.facts.play(specifiers.map)
    half, position = model.half_of(specifiers.round - 1, play.max_rounds, play.overtime_rounds)
    return position if half < 2 else None


def _headshot_price(forecast: Forecast, specifiers: Specifiers) -> float:
    fitted = load().kills
    return fitted.pistol_headshot if _rounds_since_pistol(forecast, specifiers) == 0 else fitted.headshot


def _awp_price(forecast: Forecast, specifiers: Specifiers) -> float:
    fitted = load().kills
    return fitted.poor_awp if _rounds_since_pistol(forecast, specifiers) in (0, 1) else fitted.awp


def _occurs(
    proof: Callable[[TimelineEvent], bool], what: str, facts: MatchFacts, specifiers: Specifiers
) -> Settlement | None:
    """Whether it happens: decided as soon as an event proves it, or by the round's end."""
    round_key = _round_key(specifiers)
    known = facts.events.get(round_key, ()) if _all_known(facts, round_key) else ()
    found = next((event for event in known if proof(event)), None)
    if found:
        return decide(True, (found.id,), what)
    played = facts.rounds.get(round_key)
    if played is None or not facts.complete(round_key) or facts.gap(round_key):
        return _void_without_result(facts, round_key, "")
    return decide(False, (played.id,), f"no {what}")


def _endings(forecast: Forecast, specifiers: Specifiers) -> Endings:
    return forecast.once(endings_of, _round_key(specifiers))


def _plant_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return _endings(forecast, specifiers).planted


def _ending_price(reason: WinReason, forecast: Forecast, specifiers: Specifiers) -> float:
    found = _endings(forecast, specifiers)
    return {"defuse": found.defuse, "bomb": found.bomb, "time": found.time, "kills": found.kills}[reason]


def _ended_by(reason: WinReason, facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    played = facts.rounds.get(_round_key(specifiers))
    if played is None:
        return None
    return decide(played.win_reason == reason, (played.id,), f"round won by {played.win_reason}")


def _kill_count(forecast: Forecast, specifiers: Specifiers) -> Distribution:
    return forecast.once(_kill_count_of, _round_key(specifiers))


def _kill_count_of(forecast: Forecast, round_key: RoundKey) -> Distribution:
    """How many kills the round may have in all."""
    current = forecast.current_round
    in_progress = current is not None and (current.map, current.number) == round_key
    seen = forecast.facts.kills_in_round if in_progress else 0
    return counted(more_kills(*forecast.once(kill_state, round_key)), seen)


def _kill_lines(forecast: Forecast, specifiers: Specifiers) -> LineSequence:
    return _kill_count(forecast, specifiers).lines()


def _over_price(forecast: Forecast, specifiers: Specifiers) -> float:
    return _kill_count(forecast, specifiers).over(specifiers.threshold)


def _kill_total(facts: MatchFacts, specifiers: Specifiers) -> Settlement | None:
    round_key = _round_key(specifiers)
    kills = _kills(facts, round_key)
    if len(kills) > specifiers.threshold:
        decisive = tuple(kill.id for kill in kills[: int(specifiers.threshold) + 1])
        return decide(True, decisive, f"{len(decisive)} kills")
    played = facts.rounds.get(round_key)
    if played is None or not facts.complete(round_key) or facts.gap(round_key):
        return _void_without_result(facts, round_key, "")
    return decide(False, (played.id, *(kill.id for kill in kills)), f"{len(kills)} kills in the round")


def _ending(id: int, key: str, reason: WinReason, *ways: str) -> Rule:
    return Rule(
        id=id,
        key=key,
        family="round_ending",
        opens=partial(_in_freeze, _single),
        price=partial(_ending_price, reason),
        settle=partial(_ended_by, reason),
        proposition=partial(_of_endings, frozenset(ways)),
    )


def _is_awp_kill(event: TimelineEvent) -> bool:
    return event.counts_for_markets and event.weapon == "awp"


def _is_plant(event: TimelineEvent) -> bool:
    """A bomb that was defused or exploded had been planted, whatever the log has of it. One that was planted
    after the round was decided decides nothing."""
    return event.type in ("bomb_planted", "bomb_defused", "bomb_exploded") and not event.late


def _in_freeze_rule(id: int, key: str, price: Price, settle: Settle, proposition: Propose) -> Rule:
    """Something about the events of a round, on offer in its freeze."""
    return Rule(
        id=id,
        key=key,
        family=key,
        opens=partial(_in_freeze, _single),
        price=price,
        settle=settle,
        subject=of_round,
        pairs=True,
        proposition=proposition,
    )


_HEADSHOT = _in_freeze_rule(
    15,
    "round_opening_headshot",
    _headshot_price,
    partial(_first_kill, lambda kill, specifiers: kill.headshot),
    partial(_independent_of_winner, HEADSHOT, _headshot_price),
)
_AWP = _in_freeze_rule(
    16,
    "round_awp_kill",
    _awp_price,
    partial(_occurs, _is_awp_kill, "AWP kill"),
    partial(_independent_of_winner, AWP_KILL, _awp_price),
)
_PLANT = _in_freeze_rule(
    17,
    "round_bomb_planted",
    _plant_price,
    partial(_occurs, _is_plant, "bomb plant"),
    partial(_of_endings, PLANTED_ENDINGS),
)
_KILLS = Rule(
    id=19,
    key="round_kills_over",
    family="round_kills",
    opens=partial(_on_offer, _single),
    ladder=Ladder(size=2, lines=_kill_lines, place=with_threshold),
    price=_over_price,
    settle=_kill_total,
    subject=of_round,
    proposition=partial(_independent_of_winner, KILLS, _over_price),
)

RULES = (
    Rule(
        id=13,
        key="round_winner",
        family="round_winner",
        opens=_winner_offers,
        price=_winner_price,
        settle=_winner,
        pairs=True,
        proposition=_of_winner,
    ),
    Rule(
        id=14,
        key="round_opening_kill",
        family="round_opening_kill",
        opens=partial(_in_freeze, _teams),
        price=_opening_price,
        settle=partial(_first_kill, lambda kill, specifiers: kill.actor_team == specifiers.team),
        subject=of_round,
        pairs=True,
        proposition=_of_first_kill,
    ),
    _HEADSHOT,
    opposite(_HEADSHOT, 32, "round_opening_no_headshot"),
    _AWP,
    opposite(_AWP, 33, "round_no_awp_kill"),
    _PLANT,
    opposite(_PLANT, 34, "round_no_bomb_plant"),
    _KILLS,
    opposite(_KILLS, 20, "round_kills_under"),
    _ending(18, "round_bomb_defused", "defuse", "defuse"),
    _ending(21, "round_bomb_exploded", "bomb", "bomb"),
    _ending(29, "round_time_expired", "time", "time"),
    _ending(30, "round_elimination", "kills", "ct_kills", "t_kills", "late_kills"),
)
