"""What happens within a round: kills, assists, the bomb. Each becomes an event with a history id.

A player dies once in a round, so a repeated line adds nothing.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import EventAdded, EventAmended, MatchChanges
from app.domain.loadout import GRENADES, after_death, is_knife
from app.domain.map_play import NO_DETAILS, KillDetails, player_kills
from app.domain.match import (
    CurrentRound,
    EventType,
    Match,
    MatchPlayer,
    OtherDeath,
    Round,
    RoundResult,
    Side,
    TimelineEvent,
)
from app.domain.round_knowledge import defuse_work_begun, end_bomb_work, show_equipment, stop_bomb_work
from app.domain.sides import apply_seen_players, team_of, update_map

_THROWN = GRENADES | {"inferno"}  #: what kills without its owner doing anything at that moment


def killed(match: Match, fact: f.Killed, changes: MatchChanges) -> Match:
    current = match.current
    if current is None or fact.victim in current.dead:
        return match
    if fact.weapon not in _THROWN:
        match = stop_bomb_work(match, fact.killer)
    match = apply_seen_players(match, ((fact.killer, fact.side), (fact.victim, fact.victim_side)))
    match = mark_dead(match, fact.victim, fact.victim_side)
    if not is_knife(fact.weapon):
        match = release_withheld_events(match, changes)
    details = KillDetails(fact.position, fact.victim_position, fact.flags)
    return add_event(
        match,
        changes,
        "kill",
        fact.at,
        actor=(fact.killer, fact.side),
        target=(fact.victim, fact.victim_side),
        weapon=fact.weapon,
        headshot=fact.headshot,
        penetrated=fact.penetrated,
        details=details if details != NO_DETAILS else None,
    )


def died(match: Match, fact: f.Died, changes: MatchChanges) -> Match:
    current = match.current
    if current is None or fact.victim in current.dead:
        return match
    team = team_of(match, fact.victim, fact.side)
    if team is not None:
        death = OtherDeath(current.map, current.number, fact.victim, team)
        match = replace(match, other_deaths=(*match.other_deaths, death))
        if (last := _last_finished(match, current.number)) is not None:
            match = _replace_last(match, replace(last, other_deaths=(*last.other_deaths, death)))
    else:  # which team is a player short stays unknown
        match = replace(match, current=replace(current, gap=True))
    return mark_dead(match, fact.victim, fact.side)


def deaths_in(match: Match, number: int, round_number: int) -> tuple[OtherDeath, ...]:
    """The deaths without a kill in a round of this map."""
    place = number, round_number
    return tuple(death for death in match.other_deaths if (death.map, death.round) == place)


def assisted(match: Match, fact: f.Assisted, changes: MatchChanges) -> Match:
    """Attach the assist to the newest kill of that victim, unless it has one."""
    current = match.current
    if current is None:
        return match
    for event in reversed(current.events + current.withheld):
        if event.type == "kill" and event.target == fact.victim:
            return match if event.assister else _amend(match, _with_assist(event, fact), changes)
    return match


def _with_assist(event: TimelineEvent, fact: f.Assisted) -> TimelineEvent:
    details = event.details
    if fact.flash:
        details = replace(details or NO_DETAILS, flash_assist=True)
    return replace(event, assister=fact.assister, details=details)


def planted(match: Match, fact: f.BombPlanted, changes: MatchChanges) -> Match:
    if match.current is None or _has_event(match.current, "bomb_planted"):
        return match
    match = end_bomb_work(match)
    return add_event(match, changes, "bomb_planted", fact.at, actor=(fact.player, "T"), site=fact.site)


def defuse_begun(match: Match, fact: f.DefuseBegun, changes: MatchChanges) -> Match:
    match = defuse_work_begun(match, fact)
    if match.current is None or fact.player in match.current.defusers:
        return match
    return replace(match, current=replace(match.current, defusers=(*match.current.defusers, fact.player)))


def defused(match: Match, fact: f.BombDefused, changes: MatchChanges) -> Match:
    if match.current is None or _has_event(match.current, "bomb_defused"):
        return match
    site, match = bomb_site(match.current), end_bomb_work(match)
    return add_event(match, changes, "bomb_defused", fact.at, actor=(fact.player, "CT"), site=site)


def exploded(match: Match, fact: f.BombExploded, changes: MatchChanges, *, late: bool | None = None) -> Match:
    if match.current is None or _has_event(match.current, "bomb_exploded"):
        return match
    return add_event(match, changes, "bomb_exploded", fact.at, site=bomb_site(match.current), late=late)


def add_bomb_event(match: Match, won: RoundResult, changes: MatchChanges) -> Match:
    """Add the explosion or the defusal that a round's result implies, where no line reported it."""
    if won.reason == "bomb":
        return exploded(match, f.BombExploded(at=won.at), changes, late=False)
    current = match.current
    if won.reason != "defuse" or current is None or _has_event(current, "bomb_defused"):
        return match
    alive = [player for player in current.defusers if player not in current.dead]
    actor: tuple[MatchPlayer, Side] | None = (alive[0], "CT") if len(alive) == 1 else None
    return add_event(match, changes, "bomb_defused", won.at, actor=actor, site=bomb_site(current), late=False)


def bomb_site(current: CurrentRound) -> str:
    """Where the bomb was planted this round; "" when it was not."""
    plants = (event for event in current.events + current.withheld if event.type == "bomb_planted")
    return next((event.site for event in plants), "")


def add_event(
    match: Match,
    changes: MatchChanges,
    kind: EventType,
    at: int,
    *,
    actor: tuple[MatchPlayer, Side] | None = None,
    target: tuple[MatchPlayer, Side] | None = None,
    weapon: str = "",
    headshot: bool = False,
    penetrated: bool = False,
    site: str = "",
    late: bool | None = None,
    details: KillDetails | None = None,
) -> Match:
    """Add an event to the current round and to `changes`; withhold it while the round may not count.

    `late` None: it follows from the round's phase.
    """
    current = match.current
    if current is None:
        return match
    event = TimelineEvent(
        id=match.next_history_id,
        type=kind,
        map=current.map,
        round=current.number,
        at=at,
        offset_ms=max(0, at - (current.started_at or at)),
        actor=actor[0] if actor else None,
        actor_team=team_of(match, *actor) if actor else None,
        side=actor[1] if actor else None,
        target=target[0] if target else None,
        target_team=team_of(match, *target) if target else None,
        target_side=target[1] if target else None,
        weapon=weapon,
        headshot=headshot,
        penetrated=penetrated,
        site=site,
        late=current.phase == "over" if late is None else late,
        details=details,
    )
    match = replace(match, next_history_id=match.next_history_id + 1)
    if current.knife:
        return replace(match, current=replace(current, withheld=(*current.withheld, event)))
    changes.append(EventAdded(event=event))
    match = replace(match, current=replace(current, events=(*current.events, event)))
    return _add_to_finished(match, event) if event.late else match


def release_withheld_events(match: Match, changes: MatchChanges) -> Match:
    """The round is not a knife round: report the withheld events."""
    current = match.current
    if current is None or not current.knife:
        return match
    changes.extend(EventAdded(event=event) for event in current.withheld)
    events = (*current.events, *current.withheld)
    return replace(match, current=replace(current, knife=False, withheld=(), events=events))


def mark_dead(match: Match, victim: MatchPlayer, side: Side) -> Match:
    current, team = match.current, team_of(match, victim, side)
    if current is None:
        return match
    match = show_equipment(stop_bomb_work(match, victim), victim)
    return replace(
        match,
        current=replace(
            current,
            dead=(*current.dead, victim),
            alive_home=max(0, current.alive_home - (team == "home")),
            alive_away=max(0, current.alive_away - (team == "away")),
        ),
        loadouts=after_death(match.loadouts, victim),
    )


def _amend(match: Match, event: TimelineEvent, changes: MatchChanges) -> Match:
    """Replace an event; one that this fold added itself is reported once, in its new form."""
    current = match.current
    if current is None:
        return match
    events = tuple(event if old.id == event.id else old for old in current.events)
    withheld = tuple(event if old.id == event.id else old for old in current.withheld)
    match = replace(match, current=replace(current, events=events, withheld=withheld))
    if any(known.id == event.id for known in events):
        _report(event, changes)
    return match


def report_teams(before: Match, after: Match, changes: MatchChanges) -> None:
    """Add to `changes` the events of the round whose teams became known with the sides (`sides`)."""
    if before.current is None or after.current is None:
        return
    known = {event.id: event for event in before.current.events}
    for event in after.current.events:
        old = known.get(event.id)
        if old and (old.actor_team, old.target_team) != (event.actor_team, event.target_team):
            _report(event, changes)


def _report(event: TimelineEvent, changes: MatchChanges) -> None:
    """Report an event in its new form, once."""
    for index, change in enumerate(changes):
        if isinstance(change, EventAdded | EventAmended) and change.event.id == event.id:
            changes[index] = replace(change, event=event)
            return
    changes.append(EventAmended(event=event))


def _add_to_finished(match: Match, event: TimelineEvent) -> Match:
    """A late event joins the list of its finished round."""
    last, current = _last_finished(match, event.round), match.current
    if last is None:
        return match
    last = replace(last, events=(*last.events, event.id))
    if last.kills is not None and current is not None:
        last = replace(last, kills=player_kills(current.events))
    return _replace_last(match, last)


def _last_finished(match: Match, number: int) -> Round | None:
    """The round that was finished last, if it is this one."""
    play = match.map
    last = play.rounds[-1] if play is not None and play.rounds else None
    return last if last is not None and last.number == number and not last.void else None


def _replace_last(match: Match, last: Round) -> Match:
    play = match.map
    return update_map(match, replace(play, rounds=(*play.rounds[:-1], last))) if play else match


def _has_event(current: CurrentRound, kind: EventType) -> bool:
    return any(event.type == kind for event in current.events + current.withheld)
