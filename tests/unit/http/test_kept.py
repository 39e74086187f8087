"""Bodies that are kept: never older than what was heard, never more than there is room for."""

from sys import getsizeof
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.http.kept import LISTS, NOTHING, Bodies, Key, done
from app.http.media import Format
from app.http.sending import Body
from app.store.connections import Store

NO_STORE = cast(Store, None)
MATCHES = (UUID(int=10), UUID(int=11))
ABOUT = (*MATCHES, LISTS)


def body(text: str) -> Body:
    return Body(text.encode(), Format.JSON)


def asking(bodies: Bodies, key: Key) -> Any:
    scope: Any = {"state": {}}
    bodies.begin(scope, key)
    return scope


@pytest.fixture
def bodies() -> Bodies:
    made = Bodies(NO_STORE, 100_000)
    made.hearing(True)
    return made


def test_a_body_is_found_until_what_it_is_about_changes(bodies: Bodies) -> None:
    kept = body("a")
    done(asking(bodies, "a"), kept, MATCHES[0])
    done(asking(bodies, "b"), body("b"), MATCHES[1])
    assert bodies.find("a") is kept
    bodies.heard(f"{MATCHES[0]} 1")
    assert bodies.find("a") is None and bodies.find("b") is not None
    bodies.heard("")
    assert bodies.find("b") is None


def test_a_list_stands_as_long_as_its_rows_do(bodies: Bodies) -> None:
    bodies.heard(f"{MATCHES[0]} 1")
    done(asking(bodies, "list"), body("l"), LISTS)
    bodies.heard(f"{MATCHES[0]} 1")
    assert bodies.find("list") is not None
    for payload in (f"{MATCHES[0]} 2", f"{MATCHES[1]} 1", f"{MATCHES[0]} ", ""):
        done(asking(bodies, "list"), body("l"), LISTS)
        assert bodies.find("list") is not None
        bodies.heard(payload)
        assert bodies.find("list") is None, payload


def test_what_depends_on_the_key_alone_outlives_every_match(bodies: Bodies) -> None:
    done(asking(bodies, "whoami"), body("w"), NOTHING)
    bodies.heard(f"{MATCHES[0]} 1")
    assert bodies.find("whoami") is not None


def test_nothing_is_kept_while_nothing_can_be_heard(bodies: Bodies) -> None:
    begun = asking(bodies, "a")
    done(asking(bodies, "b"), body("b"), MATCHES[0])
    bodies.hearing(False)
    assert bodies.find("b") is None
    done(begun, body("a"), MATCHES[0])
    done(asking(bodies, "a"), body("a"), MATCHES[0])
    assert bodies.find("a") is None
    late = asking(bodies, "a")
    bodies.hearing(True)
    done(late, body("a"), MATCHES[0])
    assert bodies.find("a") is None


def test_the_least_used_make_room() -> None:
    bodies = Bodies(NO_STORE, 10_000)
    bodies.hearing(True)
    for key in ("a", "b", "c"):
        done(asking(bodies, key), body(key * 800), MATCHES[0])
    assert bodies.find("a") is not None
    done(asking(bodies, "d"), body("d" * 800), MATCHES[1])
    assert [key for key in "abcd" if bodies.find(key)] == ["a", "c", "d"]
    bodies.heard("")
    for key in ("a", "b", "c"):
        done(asking(bodies, key), body(key * 800), MATCHES[0])
    assert all(bodies.find(key) for key in ("a", "b", "c")), "what was forgotten takes room"


def test_long_addresses_take_room_too() -> None:
    bodies = Bodies(NO_STORE, 100_000)
    bodies.hearing(True)
    keys = [("/v1/whoami", b"x" * 30_000 + bytes([number]), Format.JSON) for number in range(9)]
    keys.append(("/v1/" + "\N{PILE OF POO}" * 20_000, b"", Format.JSON))
    for key in keys:
        done(asking(bodies, key), body("a"), NOTHING)
        kept = [each for each in keys if bodies.find(each)]
        assert key in kept and sum(getsizeof(each[0]) + getsizeof(each[1]) for each in kept) <= 100_000


OPERATIONS = st.one_of(
    st.tuples(st.just("begin"), st.integers(0, 2)),
    st.tuples(st.just("end"), st.integers(0, 3)),
    st.tuples(st.just("write"), st.integers(0, 1)),
    st.tuples(st.just("hear"), st.just(0)),
    st.tuples(st.just("lose"), st.just(0)),
    st.tuples(st.just("connect"), st.just(0)),
)


@given(st.lists(OPERATIONS, max_size=60))
def test_no_body_is_older_than_what_was_heard(operations: list[tuple[str, int]]) -> None:
    """Reads, writes and their signals in any order; a body carries the version that it was read at."""
    bodies = Bodies(NO_STORE, 100_000)
    version = dict.fromkeys(ABOUT, 0)
    unheard: list[UUID] = []
    reading: list[tuple[Any, UUID, int]] = []
    connected = False
    for name, place in operations:
        if name == "begin":
            about = ABOUT[place]
            reading.append((asking(bodies, str(about)), about, version[about]))
        elif name == "end" and place < len(reading):
            scope, about, read = reading.pop(place)
            done(scope, body(str(read)), about)
        elif name == "write":
            for about in (MATCHES[place], LISTS):
                version[about] += 1
            if connected:
                unheard.append(MATCHES[place])
        elif name == "hear" and unheard:
            heard = unheard.pop(0)
            bodies.heard(f"{heard} {version[heard] - unheard.count(heard)}")
        elif name in ("lose", "connect"):
            connected = name == "connect"
            unheard.clear()
            bodies.hearing(connected)
        for about in ABOUT:
            found = bodies.find(str(about))
            late = len(unheard) if about == LISTS else unheard.count(about)
            assert found is None or int(found.plain) >= version[about] - late
            assert found is None or connected
