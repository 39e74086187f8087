"""The auditor finds what is put into a run's evidence, and nothing in what is right."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from scripts.lab.auditor import audit
from scripts.lab.evidence import (
    Delivery,
    Entry,
    Envelope,
    Evidence,
    Frame,
    Kind,
    Recovery,
    Row,
    Shown,
    Tenant,
    read,
)

MATCH = "od:match:7"
MARKET = (13, "map=1|round=1|team=home")
ODDS = b'<odds_change event_id="od:match:7" timestamp="%d"><odds>%s</odds></odds_change>'
OPEN = b'<market id="13" specifiers="map=1|round=1|team=home" status="1"/>'
SETTLED = (
    b'<bet_settlement event_id="od:match:7" timestamp="1003"><outcomes>'
    b'<market id="13" specifiers="map=1|round=1|team=home"><outcome result="1"/></market>'
    b"</outcomes></bet_settlement>"
)
BODIES = {2: ODDS % (1001, OPEN), 4: ODDS % (1002, b""), 5: SETTLED, 7: ODDS % (1004, b"")}
NAMES = {2: "odds_change", 4: "odds_change", 5: "bet_settlement", 7: "odds_change"}


def row(seq: int, envelope: int, previous: int, at: int, entity: str = "market") -> Row:
    return Row(seq, MATCH, entity, "", NAMES[envelope], at, envelope, previous)


ROWS = (
    row(1, 2, 0, 1001, "match"),
    row(2, 2, 0, 1001),
    row(3, 4, 2, 1002, "match"),
    row(4, 4, 2, 1002),
    row(5, 5, 4, 1003, "settlement"),
    row(6, 7, 5, 1004, "match"),
    row(7, 7, 5, 1004),
)
ENTRIES = (Entry(5, MATCH, MARKET, "won"),)
ENVELOPES = tuple(
    Envelope(each.seq, each.previous, MATCH, each.message, each.at, BODIES[each.seq])
    for each in ROWS
    if each.seq == each.envelope
)
QUOTES = {MATCH: {"1:": (1, "1.85")}}
SHOWN = {MATCH: Shown({"1:": {"odds": 1.85}}, {"status": "live"})}


def delivery(envelope: Envelope, moment: float) -> Delivery:
    headers = {"x-seq": envelope.number, "x-prev-seq": envelope.previous}
    return read(envelope.body, headers, moment, 1)


def delivered(envelopes: tuple[Envelope, ...] = ENVELOPES) -> tuple[Delivery, ...]:
    """Each once, a second after the one before."""
    return tuple(delivery(each, 1.0 + number) for number, each in enumerate(envelopes))


def right() -> Evidence:
    """A run in which nothing is wrong."""
    tenant = Tenant(
        slug="acme",
        envelopes=ENVELOPES,
        deliveries=delivered(),
        recoveries=(Recovery("1", 0.5, ("connected",), 202, 0.6),),
        book=QUOTES,
        offer=QUOTES,
        entries=frozenset({5}),
        settlements=frozenset({5}),
        frames=(
            Frame(1.0, 1, "match.updated", MATCH, 3, False),
            Frame(1.1, 1, "bet_settlement", MATCH, 5, False, 5),
            Frame(1.2, 1, "alive", "", 7, False),
        ),
        streamed=SHOWN,
        rest=SHOWN,
    )
    return Evidence(rows=ROWS, entries=ENTRIES, tenants=(tenant,))


def with_tenant(**fields: Any) -> Evidence:
    evidence = right()
    return replace(evidence, tenants=(replace(evidence.tenants[0], **fields),))


def kinds(evidence: Evidence) -> set[Kind]:
    return {each.kind for each in audit(evidence).findings}


def without(number: int) -> tuple[Delivery, ...]:
    return tuple(each for each in delivered() if each.number != number)


def test_a_message_after_a_fail_over_names_its_mark() -> None:
    evidence, renamed = right(), tuple(replace(each, previous=5) for each in ROWS[5:])
    after = tuple(replace(each, previous=6) for each in ROWS[5:])
    assert not kinds(replace(evidence, rows=(*ROWS[:5], *renamed)))
    named = replace(with_tenant(**_after(6)), rows=(*ROWS[:5], *after))
    assert kinds(named) == {Kind.LOG}
    assert not kinds(replace(named, marks=(6,)))
    assert kinds(replace(named, marks=(4,))) == {Kind.LOG}


def _after(previous: int) -> dict[str, Any]:
    """The tenant's side of it: its last message names `previous`."""
    envelopes = (*ENVELOPES[:3], replace(ENVELOPES[3], previous=previous))
    return {"envelopes": envelopes, "deliveries": delivered(envelopes)}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    verdict = audit(right())
    assert verdict.findings == ()
    assert (verdict.received, verdict.repeated) == (4, 0)


NOTICE = Delivery(2.5, 1, "alive", "", 1003, 0, 0, "", b"", subscribed="0")


def test_a_process_that_takes_over_may_publish_from_an_earlier_place() -> None:
    """The client missed the first two messages, which nobody published to it."""
    missed, present = delivered()[:2], delivered()[2:]
    assert not kinds(with_tenant(deliveries=(*present, NOTICE, *missed, *present)))
    assert kinds(with_tenant(deliveries=(*present, *missed))) == {Kind.ORDER}  # nobody has taken over
    disordered = (present[0], NOTICE, *reversed(missed), present[1])
    assert kinds(with_tenant(deliveries=disordered)) == {Kind.ORDER}


@pytest.mark.parametrize("number", BODIES)
def test_a_lost_message_is_found(number: int) -> None:
    verdict = audit(with_tenant(deliveries=without(number)))
    assert verdict.count(Kind.LOST) == (2 if number == 5 else 1)  # with the message, its result
    assert verdict.received == 3


REQUESTED = Recovery("2", 4.0, ("notice",), 202, 5.0)


@pytest.mark.parametrize(
    ("recovery", "number", "found"),
    [
        (REQUESTED, 7, set()),
        (REQUESTED, 2, {Kind.LOST}),  # an older state is replayed
        (Recovery("2", 4.0, ("wish",), 202, 5.0), 7, {Kind.LOST}),  # no rule had the client request it
        (Recovery("2", 4.0, ("notice",), 202, None), 7, {Kind.LOST}),  # it was not completed
        (Recovery("3", 0.9, ("notice",), 202, 1.0), 7, {Kind.LOST}),  # requested before, nothing is replayed
    ],
)
def test_only_what_a_recovery_replays_that_the_client_was_told_to_request_is_not_lost(
    recovery: Recovery, number: int, found: set[Kind]
) -> None:
    replayed = replace(delivery(ENVELOPES[1], 4.5), request="2", number=number, previous=0)
    assert kinds(with_tenant(deliveries=(*without(4), replayed), recoveries=(recovery,))) == found


def test_an_invented_message_is_found() -> None:
    invented = replace(ENVELOPES[-1], number=9, previous=7)
    assert kinds(with_tenant(deliveries=(*delivered(), delivery(invented, 9.0)))) == {Kind.INVENTED}


def test_an_invented_result_of_a_replay_is_found() -> None:
    replayed = replace(delivery(ENVELOPES[2], 9.0), request="2", previous=0, at=1_999)
    assert kinds(with_tenant(deliveries=(*delivered(), replayed))) == {Kind.INVENTED}


@pytest.mark.parametrize("change", [{"body": ODDS % (1002, OPEN)}, {"at": 1_999}, {"previous": 1}])
def test_a_message_that_contradicts_the_change_log_is_found(change: dict[str, Any]) -> None:
    deliveries = tuple(replace(each, **change) if each.number == 4 else each for each in delivered())
    assert kinds(with_tenant(deliveries=deliveries)) == {Kind.INVENTED}


def test_a_message_that_comes_first_after_newer_ones_is_found() -> None:
    deliveries = (*without(4), delivery(ENVELOPES[1], 9.0))
    assert kinds(with_tenant(deliveries=deliveries)) == {Kind.ORDER}


def test_what_comes_first_after_newer_ones_may_belong_to_a_run_that_ends_with_the_newest() -> None:
    """The queue missed message 4; the feed process publishes again what the broker had not confirmed."""
    missed, run = without(4), delivered()[1:]
    assert not kinds(with_tenant(deliveries=(*missed, *run)))
    assert kinds(with_tenant(deliveries=(*missed, *run[:-1]))) == {Kind.ORDER}  # its end did not come
    assert kinds(with_tenant(deliveries=(*missed, *reversed(run)))) == {Kind.ORDER}


def test_a_run_ends_with_the_newest_of_each_match() -> None:
    body = ENVELOPES[3].body.replace(b"match:7", b"match:8")
    other = replace(ENVELOPES[3], number=9, previous=0, match="od:match:8", body=body)
    envelopes = (*ENVELOPES, other)
    late, newest = delivery(ENVELOPES[1], 9.0), delivery(other, 8.0)

    def found(*run: Delivery) -> set[Kind]:
        deliveries = (*without(4), newest, late, *run)
        return kinds(with_tenant(envelopes=envelopes, deliveries=deliveries))

    assert found(newest) == {Kind.ORDER}  # of its own match something older was the last
    assert not found(*delivered()[2:], newest)


def test_repeated_messages_are_counted() -> None:
    verdict = audit(with_tenant(deliveries=(*delivered(), delivery(ENVELOPES[1], 9.0))))
    assert (verdict.findings, verdict.received, verdict.repeated) == ((), 5, 1)


@pytest.mark.parametrize(
    ("number", "change"),
    [(3, {"seq": 2}), (7, {"previous": 2}), (7, {"at": 1_003}), (1, {"at": 1_000}), (2, {"envelope": 1})],
)
def test_a_change_log_that_contradicts_itself_is_found(number: int, change: dict[str, int]) -> None:
    rows = tuple(replace(each, **change) if each.seq == number else each for each in ROWS)
    assert Kind.LOG in kinds(replace(right(), rows=rows))


def test_a_wrong_ledger_is_found() -> None:
    assert kinds(replace(right(), wrong_settlements=("13 is lost by the facts",))) == {Kind.LEDGER}
    assert Kind.LEDGER in kinds(replace(right(), entries=()))
    more = replace(right(), entries=(*ENTRIES, Entry(99, MATCH, (14, ""), "won")))
    assert kinds(more) == {Kind.LEDGER}


def test_a_result_that_differs_from_the_ledger_or_that_rest_does_not_show_is_found() -> None:
    assert kinds(replace(right(), entries=(Entry(5, MATCH, MARKET, "lost"),))) == {Kind.BOOK}
    assert kinds(with_tenant(settlements=frozenset())) == {Kind.LEDGER}


@pytest.mark.parametrize("book", [{}, {MATCH: {"1:": (1, "1.9")}}, {MATCH: {"1:": (-1, "")}}])
def test_a_book_that_differs_from_rest_is_found(book: dict[str, Any]) -> None:
    assert kinds(with_tenant(book=book)) == {Kind.BOOK}


@pytest.mark.parametrize("differences", [None, 2])
def test_a_self_check_that_finds_something_or_does_not_answer_is_found(differences: int | None) -> None:
    assert kinds(with_tenant(differences=differences)) == {Kind.BOOK}


@pytest.mark.parametrize(
    "held",
    [{}, {MATCH: Shown({}, {"status": "live"})}, {MATCH: Shown(SHOWN[MATCH].markets, {"status": "x"})}],
)
def test_a_stream_that_differs_from_rest_is_found(held: dict[str, Shown]) -> None:
    assert kinds(with_tenant(streamed=held)) == {Kind.BOOK}


@pytest.mark.parametrize(
    ("status", "found"), [("live", {Kind.BOOK}), ("finished", set()), ("cancelled", set())]
)
def test_a_match_that_no_snapshot_has_is_known_unless_it_is_over(status: str, found: set[Kind]) -> None:
    markets = SHOWN[MATCH].markets
    streamed, rest = {MATCH: Shown(markets, {})}, {MATCH: Shown(markets, {"status": status})}
    assert kinds(with_tenant(streamed=streamed, rest=rest)) == found


def test_wrong_frames_of_the_stream_are_found() -> None:
    frames = right().tenants[0].frames
    assert kinds(with_tenant(frames=(frames[0], frames[2]))) == {Kind.LOST}
    invented = Frame(1.3, 1, "match.updated", MATCH, 99, False)
    assert kinds(with_tenant(frames=(*frames, invented))) == {Kind.INVENTED}
    assert kinds(with_tenant(frames=(frames[1], frames[0]))) == {Kind.ORDER}
    snapshot = Frame(1.3, 2, "alive", "", 7, True)
    assert kinds(with_tenant(frames=(frames[0], snapshot))) == set()


def test_failures_are_findings() -> None:
    assert kinds(replace(right(), failures=("feed1/feed has ended",))) == {Kind.FAILURE}


def test_a_match_whose_booking_changed_need_not_arrive_whole() -> None:
    assert kinds(with_tenant(deliveries=without(4), uncertain=frozenset({MATCH}))) == set()


def test_evidence_is_stored_as_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(right()), type=Evidence) == right()
