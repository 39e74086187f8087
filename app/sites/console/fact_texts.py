"""What happened in a match, and what operators commanded, in words."""

from app.domain.match import Round, Team, TimelineEvent
from app.sites.pages.texts import Texts
from app.store.operator_commands import ExecutedCommand


def event_in_words(texts: Texts, event: TimelineEvent, home: str, away: str) -> str:
    """A kill with both players, the team and the weapon; what happened to the bomb, where, and by whom."""
    actor = event.actor.name if event.actor else "?"
    if event.type == "kill":
        target = event.target.name if event.target else "?"
        team = team_name(event.actor_team, home, away)
        return texts("facts.kill", actor=actor, team=team, target=target, weapon=event.weapon)
    what = texts(f"settlements.events.{event.type}")
    return f"{what} {event.site}".strip() + (f" · {event.actor.name}" if event.actor else "")


def round_in_words(texts: Texts, played: Round, home: str, away: str) -> str:
    """How a round ended, and the score after it."""
    return texts(
        "facts.round",
        map=played.map,
        round=played.number,
        team=team_name(played.winner, home, away),
        reason=texts(f"settlements.win_reasons.{played.win_reason}"),
        home=played.home_score,
        away=played.away_score,
    )


def command_in_words(texts: Texts, executed: ExecutedCommand) -> str:
    """Who gave which command."""
    name = f"commands.{executed.name}"
    command = texts(name) if texts.has(name) else executed.name
    return texts("facts.command", actor=executed.actor, command=command)


def team_name(team: Team | None, home: str, away: str) -> str:
    return {"home": home, "away": away}.get(team or "", "?")
