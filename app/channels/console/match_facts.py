"""What happened in a match, in the order of time, to be shown beside prices; pure."""

from collections.abc import Iterable

import msgspec

from app.domain.match import Match, Round, TimelineEvent
from app.domain.player import Team
from app.pages.texts import Texts
from app.store.match_commands import ExecutedCommand


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """Something that happened at `at` (Unix ms); `kind`: of the event, `round` for a round's end, `command`
    for one that an operator gave."""

    at: int
    kind: str
    text: str


def facts_in_words(
    texts: Texts,
    match: Match,
    rounds: Iterable[Round],
    events: Iterable[TimelineEvent],
    commands: Iterable[ExecutedCommand],
) -> list[Fact]:
    """Every event and every round's end that counts, and every command, oldest first."""
    happened = [Fact(each.at, each.type, _event(texts, match, each)) for each in events if not each.void]
    ended = [Fact(each.ended_at, "round", _round(texts, match, each)) for each in rounds if not each.void]
    given = [Fact(each.at, "command", _command(texts, each)) for each in commands]
    return sorted([*happened, *ended, *given], key=lambda fact: fact.at)


def _command(texts: Texts, executed: ExecutedCommand) -> str:
    name = f"commands.{executed.name}"
    command = texts(name) if texts.has(name) else executed.name
    return texts("facts.command", actor=executed.actor, command=command)


def _event(texts: Texts, match: Match, event: TimelineEvent) -> str:
    actor = event.actor.name if event.actor else "?"
    if event.type == "kill":
        target = event.target.name if event.target else "?"
        team = _team(match, event.actor_team)
        return texts("facts.kill", actor=actor, team=team, target=target, weapon=event.weapon)
    what = texts(f"settlements.events.{event.type}")
    return f"{what} {event.site}".strip() + (f" · {event.actor.name}" if event.actor else "")


def _round(texts: Texts, match: Match, played: Round) -> str:
    return texts(
        "facts.round",
        map=played.map,
        round=played.number,
        team=_team(match, played.winner),
        reason=texts(f"settlements.win_reasons.{played.win_reason}"),
        home=played.home_score,
        away=played.away_score,
    )


def _team(match: Match, team: Team | None) -> str:
    return {"home": match.home, "away": match.away}.get(team or "", "?")
