"""The facts that a settlement rests on, of everything that happened in a match."""

from msgspec.structs import replace

from app.domain.match import MapPlay, Round, TimelineEvent
from app.sites.pages.settlements import facts_of

KILL = TimelineEvent(1, "kill", 1, 2, 50, 5)
PLAYED = Round(3, 1, 2, "home", "CT", "kills", 1, 1, 0, 90)
MAP = MapPlay(1, "de_nuke", end_id=5)
EVENTS = (KILL, replace(KILL, id=2, at=40), replace(KILL, id=4, round=1))


def test_events_stand_under_their_rounds_in_the_order_of_play() -> None:
    found = facts_of((1, 2, 3, 4), (PLAYED,), EVENTS, (MAP,))
    shown = [(each.round, each.played, [event.id for event in each.events]) for each in found.rounds]
    assert shown == [(1, None, [4]), (2, PLAYED, [2, 1])]
    assert found.map_ends == () and found.unknown == ()


def test_only_what_is_named_is_shown_and_what_is_missing_is_named() -> None:
    found = facts_of((5, 77), (PLAYED,), EVENTS, (MAP,))
    assert found.rounds == () and found.map_ends == (MAP,) and found.unknown == (77,)
