"""Market types of one round. They rest on the round's result, or on the events within it."""

from collections.abc import Callable, Iterable
from functools import partial

from app.domain.match import TimelineEvent, WinReason
from app.trading import kill_model, model
from app.trading.forecast import Outlook
from app.trading.match_facts import Evidence, Place
from app.trading.match_phase import following_round, round_on_offer, round_to_come
from app.trading.rules import NO_RESULT, Rule, Verdict, decide, void
from app.trading.specifiers import Spec

TEAMS = ("home", "away")
_KILL_LINES = (6.5, 7.5)
#: Shares of rounds (`docs/pricing.md`). Poor rounds: pistol rounds and those after them.
_HEADSHOT, _PISTOL_HEADSHOT = 0.405, 0.48
_AWP, _POOR_AWP = 0.455, 0.02
_PLANTED, _DEFUSED_OF_PLANTED, _EXPLODED_OF_HELD, _TIME_OF_UNPLANTED = 0.46, 0.305, 0.35, 0.03
#: How much each of these leans on the sides' chances.
_PLANT_LEAN, _DEFUSE_LEAN = 0.2, 0.8

Where = Callable[[Evidence], Place | None]


def _place(spec: Spec) -> Place:
    return spec.map, spec.round


def _at(where: Where, make: Callable[[Place], Iterable[Spec]], evidence: Evidence) -> Iterable[Spec]:
    place = where(evidence)
    return make(place) if place else ()


def _teams(place: Place) -> Iterable[Spec]:
    return (Spec(map=place[0], round=place[1], team=team) for team in TEAMS)


def _single(place: Place) -> Iterable[Spec]:
    return (Spec(map=place[0], round=place[1]),)


def _lines(place: Place) -> Iterable[Spec]:
    return (Spec(map=place[0], round=place[1], threshold=line) for line in _KILL_LINES)


def _winner_offers(evidence: Evidence) -> Iterable[Spec]:
    for place in (round_on_offer(evidence), following_round(evidence)):
        if place:
            yield from _teams(place)


def _of_team(home: float, spec: Spec) -> float:
    return home if spec.team == "home" else 1 - home


def _winner_price(outlook: Outlook, spec: Spec) -> float:
    return _of_team(outlook.round_win(spec.map, spec.round), spec)


def _winner(evidence: Evidence, spec: Spec) -> Verdict | None:
    played = evidence.rounds.get(_place(spec))
    return (
        decide(played.winner == spec.team, (played.id,), f"round won by {played.winner}") if played else None
    )


def _told(evidence: Evidence, place: Place) -> tuple[TimelineEvent, ...] | None:
    """The events of a round in order, from its first on; None when not all of them are here."""
    current = evidence.match.current
    in_hand = current is not None and (current.map, current.number) == place
    known = in_hand or evidence.whole or evidence.complete(place)
    return evidence.events.get(place, ()) if known else None


def _kills(evidence: Evidence, place: Place) -> list[TimelineEvent]:
    return [event for event in _told(evidence, place) or () if event.counts]


def _nothing_seen(evidence: Evidence, place: Place, reason: str) -> Verdict | None:
    """The round is over and gave no answer, or we missed it."""
    played = evidence.rounds.get(place)
    if played is None or not evidence.complete(place):
        return None
    return void(NO_RESULT, (played.id,), "data was missing in this round" if evidence.gap(place) else reason)


def _first_kill(
    truth: Callable[[TimelineEvent, Spec], bool], evidence: Evidence, spec: Spec
) -> Verdict | None:
    kills = _kills(evidence, _place(spec))
    if not kills or evidence.gap(_place(spec)) or kills[0].actor_slot is None:
        return _nothing_seen(evidence, _place(spec), "the round ended without a kill")
    return decide(truth(kills[0], spec), (kills[0].id,), "first kill of the round")


def _opening_price(outlook: Outlook, spec: Spec) -> float:
    chance = kill_model.first_kill(outlook.round_logit(spec.map), outlook.home_is_ct(spec.map))
    return _of_team(chance, spec)


def _rounds_since_pistol(outlook: Outlook, spec: Spec) -> int | None:
    """0 in a pistol round; None in overtime, which has none."""
    play = outlook.evidence.play(spec.map)
    half, position = model.half_of(spec.round - 1, play.max_rounds, play.overtime_rounds)
    return position if half < 2 else None


def _headshot_price(outlook: Outlook, spec: Spec) -> float:
    return _PISTOL_HEADSHOT if _rounds_since_pistol(outlook, spec) == 0 else _HEADSHOT


def _awp_price(outlook: Outlook, spec: Spec) -> float:
    return _POOR_AWP if _rounds_since_pistol(outlook, spec) in (0, 1) else _AWP


def _occurs(
    proof: Callable[[TimelineEvent], bool], what: str, evidence: Evidence, spec: Spec
) -> Verdict | None:
    """Won as soon as an event proves it; lost when the round ends without one."""
    place = _place(spec)
    found = next((event for event in _told(evidence, place) or () if proof(event)), None)
    if found:
        return decide(True, (found.id,), what)
    played = evidence.rounds.get(place)
    if played is None or not evidence.complete(place) or evidence.gap(place):
        return _nothing_seen(evidence, place, "") if played else None
    return decide(False, (played.id,), f"no {what}")


def _plant_price(outlook: Outlook, spec: Spec) -> float:
    ct = outlook.ct_wins(spec.map, spec.round)
    return kill_model.shifted(_PLANTED, _PLANT_LEAN, 0.5 - ct)


def _ending_prices(outlook: Outlook, spec: Spec) -> dict[WinReason, float]:
    """The ways a round can end; they sum to 1."""
    planted = _plant_price(outlook, spec)
    defused = planted * kill_model.shifted(
        _DEFUSED_OF_PLANTED, _DEFUSE_LEAN, outlook.ct_wins(spec.map, spec.round) - 0.5
    )
    exploded, time = (planted - defused) * _EXPLODED_OF_HELD, (1 - planted) * _TIME_OF_UNPLANTED
    return {"defuse": defused, "bomb": exploded, "time": time, "kills": 1 - defused - exploded - time}


def _ending_price(reason: WinReason, outlook: Outlook, spec: Spec) -> float:
    return _ending_prices(outlook, spec)[reason]


def _ended_by(reason: WinReason, evidence: Evidence, spec: Spec) -> Verdict | None:
    played = evidence.rounds.get(_place(spec))
    if played is None:
        return None
    return decide(played.win_reason == reason, (played.id,), f"round won by {played.win_reason}")


def _over_price(outlook: Outlook, spec: Spec) -> float:
    current = outlook.playing
    in_hand = current is not None and (current.map, current.number) == _place(spec)
    home, away = (
        (current.alive_home, current.alive_away) if current and in_hand else (kill_model.PLAYERS,) * 2
    )
    seen = sum(event.counts for event in outlook.events) if in_hand else 0
    chances = kill_model.more_kills(
        home, away, round(outlook.round_logit(spec.map), 2), outlook.planter if in_hand else 0
    )
    return kill_model.more_than(chances, spec.threshold - seen)


def _under_price(outlook: Outlook, spec: Spec) -> float:
    return 1 - _over_price(outlook, spec)


def _kill_total(over: bool, evidence: Evidence, spec: Spec) -> Verdict | None:
    place = _place(spec)
    kills = _kills(evidence, place)
    if len(kills) > spec.threshold:
        decisive = tuple(kill.id for kill in kills[: int(spec.threshold) + 1])
        return decide(over, decisive, f"{len(decisive)} kills")
    played = evidence.rounds.get(place)
    if played is None or not evidence.complete(place) or evidence.gap(place):
        return _nothing_seen(evidence, place, "") if played else None
    return decide(not over, (played.id, *(kill.id for kill in kills)), f"{len(kills)} kills in the round")


def _ending(id: int, key: str, reason: WinReason) -> Rule:
    return Rule(
        id=id,
        key=key,
        family="round_ending",
        opens=partial(_at, round_to_come, _single),
        price=partial(_ending_price, reason),
        settle=partial(_ended_by, reason),
    )


RULES = (
    Rule(
        id=13,
        key="round_winner",
        family="round_winner",
        opens=_winner_offers,
        price=_winner_price,
        settle=_winner,
    ),
    Rule(
        id=14,
        key="round_opening_kill",
        family="round_opening_kill",
        opens=partial(_at, round_to_come, _teams),
        price=_opening_price,
        settle=partial(_first_kill, lambda kill, spec: kill.actor_slot == spec.team),
    ),
    Rule(
        id=15,
        key="round_opening_headshot",
        family="round_opening_headshot",
        lone=True,
        opens=partial(_at, round_to_come, _single),
        price=_headshot_price,
        settle=partial(_first_kill, lambda kill, spec: kill.headshot),
    ),
    Rule(
        id=16,
        key="round_awp_kill",
        family="round_awp_kill",
        lone=True,
        opens=partial(_at, round_to_come, _single),
        price=_awp_price,
        settle=partial(_occurs, lambda event: event.counts and event.weapon == "awp", "AWP kill"),
    ),
    Rule(
        id=17,
        key="round_bomb_planted",
        family="round_bomb_planted",
        lone=True,
        opens=partial(_at, round_to_come, _single),
        price=_plant_price,
        settle=partial(_occurs, lambda event: event.type == "bomb_planted", "bomb plant"),
    ),
    _ending(18, "round_bomb_defused", "defuse"),
    Rule(
        id=19,
        key="round_kills_over",
        family="round_kills",
        opens=partial(_at, round_on_offer, _lines),
        price=_over_price,
        settle=partial(_kill_total, True),
    ),
    Rule(
        id=20,
        key="round_kills_under",
        family="round_kills",
        opens=partial(_at, round_on_offer, _lines),
        price=_under_price,
        settle=partial(_kill_total, False),
    ),
    _ending(21, "round_bomb_exploded", "bomb"),
    _ending(29, "round_time_expired", "time"),
    _ending(30, "round_elimination", "kills"),
)
