"""Incidents, and what follows from them for the parts of the service."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.service_status import (
    KIND_TITLES,
    PART_TITLES,
    Incident,
    IncidentKind,
    IncidentUpdate,
    Maintenance,
    Part,
    PartState,
    affected,
    down_millis,
    part_states,
)

END = 1_000


def down(began_at: int, ended_at: int | None, kind: IncidentKind = IncidentKind.INGEST) -> Incident:
    return Incident(1, kind, began_at, ended_at, (IncidentUpdate(began_at, "down", PartState.DOWN),))


intervals = st.lists(st.tuples(st.integers(0, END), st.integers(0, END)).map(sorted).map(tuple), max_size=8)


@given(intervals)
def test_the_time_down_is_that_of_the_union_of_incidents(spans: list[tuple[int, int]]) -> None:
    """Counted millisecond by millisecond, overlaps once."""
    begin, end = 100, 900
    found = down_millis([down(*span) for span in spans], Part.PRICES, begin, end)
    assert found == sum(any(since <= at < until for since, until in spans) for at in range(begin, end))


def test_an_open_incident_goes_on_until_the_end() -> None:
    assert down_millis([down(200, None)], Part.PRICES, 0, END) == 800


def test_parts_that_an_incident_does_not_concern_were_not_down() -> None:
    assert down_millis([down(0, END)], Part.REST, 0, END) == 0


def test_only_the_time_in_which_a_part_was_down_counts() -> None:
    """Late messages are degraded; without a process that publishes, the feed is down."""
    one = Incident(
        1,
        IncidentKind.FEED,
        100,
        500,
        (
            IncidentUpdate(105, "late", PartState.DEGRADED),
            IncidentUpdate(150, "an operator looks"),
            IncidentUpdate(200, "nobody publishes", PartState.DOWN),
            IncidentUpdate(300, "late again", PartState.DEGRADED),
            IncidentUpdate(500, "over", PartState.OK),
        ),
    )
    assert down_millis([one], Part.FEED, 0, END) == 100
    assert one.parts == (Part.FEED, Part.RECOVERIES)
    assert one.state is PartState.OK


def test_a_part_has_the_worst_state_that_an_open_incident_says() -> None:
    late = Incident(1, IncidentKind.FEED, 0, None, (IncidentUpdate(0, "late", PartState.DEGRADED),))
    states = part_states([late, down(0, None, IncidentKind.BROKER), down(0, 10)], [], 20)
    assert states[Part.FEED] is states[Part.LOGS] is PartState.DOWN
    assert states[Part.PRICES] is states[Part.REST] is PartState.OK


def test_maintenance_is_a_state_only_while_nothing_is_wrong() -> None:
    planned = Maintenance(1, 100, 200, "a new disk", (Part.FEED, Part.PRICES), 0)
    assert part_states([], [planned], 99)[Part.FEED] is PartState.OK
    assert part_states([], [planned], 100)[Part.FEED] is PartState.MAINTENANCE
    assert part_states([], [planned], 200)[Part.FEED] is PartState.OK
    assert part_states([down(0, None)], [planned], 100)[Part.PRICES] is PartState.DOWN
    cancelled = Maintenance(1, 100, 200, "a new disk", (Part.FEED,), 0, cancelled_at=50)
    assert part_states([], [cancelled], 150)[Part.FEED] is PartState.OK


def test_everything_has_a_title_and_every_incident_a_part() -> None:
    assert set(KIND_TITLES) == set(IncidentKind) and set(PART_TITLES) == set(Part)
    for kind in IncidentKind:
        assert affected(kind, PartState.DOWN) or affected(kind, PartState.DEGRADED)
