"""The response cache: no body is older than the last notification, and memory is bounded."""

from sys import getsizeof
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.http.representation import Format, ResponseBody
from app.http.response import MATCH_LISTS, NOTHING, Key, ResponseCache, put
from app.store.connections import Store

NO_STORE = cast(Store, None)
MATCHES = (UUID(int=10), UUID(int=11))
SUBJECTS = (*MATCHES, MATCH_LISTS)


def body(text: str) -> ResponseBody:
    return ResponseBody(text.encode(), Format.JSON)


def pending(cache: ResponseCache, key: Key) -> Any:
    scope: Any = {"state": {}}
    cache.begin(scope, key)
    return scope


@pytest.fixture
def cache() -> ResponseCache:
    made = ResponseCache(NO_STORE, 100_000)
    made.set_listening(True)
    return made


def test_a_body_is_cached_until_its_subject_changes(cache: ResponseCache) -> None:
    stored = body("a")
    put(pending(cache, "a"), stored, MATCHES[0])
    put(pending(cache, "b"), body("b"), MATCHES[1])
    assert cache.get("a") is stored
    cache.invalidate(f"{MATCHES[0]} 1")
    assert cache.get("a") is None and cache.get("b") is not None
    cache.invalidate("")
    assert cache.get("b") is None


def test_a_list_is_cached_until_one_of_its_rows_changes(cache: ResponseCache) -> None:
    cache.invalidate(f"{MATCHES[0]} 1")
    put(pending(cache, "list"), body("l"), MATCH_LISTS)
    cache.invalidate(f"{MATCHES[0]} 1")
    assert cache.get("list") is not None
    for payload in (f"{MATCHES[0]} 2", f"{MATCHES[1]} 1", f"{MATCHES[0]} ", ""):
        put(pending(cache, "list"), body("l"), MATCH_LISTS)
        assert cache.get("list") is not None
        cache.invalidate(payload)
        assert cache.get("list") is None, payload


def test_no_match_invalidates_what_depends_on_the_key_alone(cache: ResponseCache) -> None:
    put(pending(cache, "whoami"), body("w"), NOTHING)
    cache.invalidate(f"{MATCHES[0]} 1")
    assert cache.get("whoami") is not None


def test_nothing_is_cached_while_the_connection_is_down(cache: ResponseCache) -> None:
    begun = pending(cache, "a")
    put(pending(cache, "b"), body("b"), MATCHES[0])
    cache.set_listening(False)
    assert cache.get("b") is None
    put(begun, body("a"), MATCHES[0])
    put(pending(cache, "a"), body("a"), MATCHES[0])
    assert cache.get("a") is None
    late = pending(cache, "a")
    cache.set_listening(True)
    put(late, body("a"), MATCHES[0])
    assert cache.get("a") is None


def test_the_least_recently_used_are_evicted() -> None:
    cache = ResponseCache(NO_STORE, 10_000)
    cache.set_listening(True)
    for key in ("a", "b", "c"):
        put(pending(cache, key), body(key * 800), MATCHES[0])
    assert cache.get("a") is not None
    put(pending(cache, "d"), body("d" * 800), MATCHES[1])
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]
    cache.invalidate("")
    for key in ("a", "b", "c"):
        put(pending(cache, key), body(key * 800), MATCHES[0])
    assert all(cache.get(key) for key in ("a", "b", "c")), "dropped bodies take room"


def test_long_addresses_count(cache: ResponseCache) -> None:
    keys = [("/v1/whoami", b"x" * 30_000 + bytes([number]), Format.JSON) for number in range(9)]
    keys.append(("/v1/" + "\N{PILE OF POO}" * 20_000, b"", Format.JSON))
    for key in keys:
        put(pending(cache, key), body("a"), NOTHING)
        cached = [each for each in keys if cache.get(each)]
        assert key in cached and sum(getsizeof(each[0]) + getsizeof(each[1]) for each in cached) <= 100_000


OPERATIONS = st.one_of(
    st.tuples(st.just("begin"), st.integers(0, 2)),
    st.tuples(st.just("end"), st.integers(0, 3)),
    st.tuples(st.just("write"), st.integers(0, 1)),
    st.tuples(st.just("receive"), st.just(0)),
    st.tuples(st.just("lose"), st.just(0)),
    st.tuples(st.just("connect"), st.just(0)),
)


@given(st.lists(OPERATIONS, max_size=60))
def test_no_body_is_older_than_the_last_notification(operations: list[tuple[str, int]]) -> None:
    """Reads, writes and their notifications in any order; a body carries the version that it was read at."""
    cache = ResponseCache(NO_STORE, 100_000)
    version = dict.fromkeys(SUBJECTS, 0)
    unreceived: list[UUID] = []
    reading: list[tuple[Any, UUID, int]] = []
    connected = False
    for name, place in operations:
        if name == "begin":
            subject = SUBJECTS[place]
            reading.append((pending(cache, str(subject)), subject, version[subject]))
        elif name == "end" and place < len(reading):
            scope, subject, read = reading.pop(place)
            put(scope, body(str(read)), subject)
        elif name == "write":
            for subject in (MATCHES[place], MATCH_LISTS):
                version[subject] += 1
            if connected:
                unreceived.append(MATCHES[place])
        elif name == "receive" and unreceived:
            changed = unreceived.pop(0)
            cache.invalidate(f"{changed} {version[changed] - unreceived.count(changed)}")
        elif name in ("lose", "connect"):
            connected = name == "connect"
            unreceived.clear()
            cache.set_listening(connected)
        for subject in SUBJECTS:
            found = cache.get(str(subject))
            late = len(unreceived) if subject == MATCH_LISTS else unreceived.count(subject)
            assert found is None or int(found.plain) >= version[subject] - late
            assert found is None or connected
