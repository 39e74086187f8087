"""The kills of each player in a round."""

from collections.abc import Iterable

from app.domain.match import PlayerKills, TimelineEvent


def player_kills(events: Iterable[TimelineEvent]) -> tuple[PlayerKills, ...]:
    """The kills of everybody who killed or was killed in these events, by account; bots are left out."""
    found: dict[int, tuple[int, ...]] = {}
    for event in events:
        if event.type != "kill" or event.void:
            continue
        for player in (event.actor, event.target):
            if player is not None and player.account:
                found.setdefault(player.account, ())
        if event.on_scoreboard and event.actor is not None and event.actor.account:
            found[event.actor.account] += (event.id,)
    return tuple(PlayerKills(account, ids) for account, ids in sorted(found.items()))
