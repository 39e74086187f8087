"""What the facade's resources promise beyond the schema."""

from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest
from lxml import etree

from app.domain.catalogue import LOCALES, Locale, MatchStatus, Text
from app.domain.match import MapPlay, Match, Status
from app.domain.match_info import MatchInfo, VideoStream
from app.wire.fields import Group
from app.wire.xml import dictionaries, entrants, responses, sport_events
from tests.golden.facade_samples import (
    APRIL_2031,
    AWAY,
    FINISHED_EVENT,
    GRANT,
    HOME,
    LIVE_EVENT,
    REASONS,
    STATUSES,
    TOURNAMENT,
    TYPES,
    UPCOMING_EVENT,
)

EVERY = frozenset(Group)


def read(document: bytes) -> Any:
    return etree.fromstring(document)


def info(root: Any) -> dict[str, str]:
    return {node.get("key"): node.get("value") for node in root.iter("info")}


@pytest.mark.parametrize("build", [sport_events.fixtures_fixture, sport_events.match_summary])
def test_home_comes_first_and_the_format_is_classic(build: Any) -> None:
    root = read(build(LIVE_EVENT))
    assert [node.get("qualifier") for node in root.iter("competitor")] == ["home", "away"]
    assert info(root)["sport_format"] == "classic"
    assert info(root)["best_of"] == "3"


def test_only_the_composed_name_depends_on_the_language() -> None:
    english, russian = (sport_events.match_summary(LIVE_EVENT, locale) for locale in LOCALES)
    assert english.replace(b" vs ", " против ".encode()) == russian


def test_start_is_the_schedule_until_play_begins() -> None:
    fixture = read(sport_events.fixtures_fixture(LIVE_EVENT)).find("fixture")
    assert fixture.get("start_time") > fixture.get("scheduled")
    waiting = msgspec.structs.replace(LIVE_EVENT, started_at=None)
    fixture = read(sport_events.fixtures_fixture(waiting)).find("fixture")
    assert fixture.get("start_time") == fixture.get("scheduled")


def test_unknown_dates_are_omitted_for_an_empty_date_is_an_error() -> None:
    fixture = read(sport_events.fixtures_fixture(UPCOMING_EVENT)).find("fixture")
    assert fixture.get("scheduled") is None
    assert fixture.get("start_time") is None
    assert fixture.get("start_time_tbd") == "true"


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("booked", [True, False])
def test_live_odds_are_to_be_had_while_a_booked_match_is_not_over(status: Status, booked: bool) -> None:
    head = msgspec.structs.replace(LIVE_EVENT.summary, status=status)
    event = msgspec.structs.replace(LIVE_EVENT, summary=head, booked=booked)
    (node,) = read(sport_events.schedule([event]))
    expected = booked and status not in (Status.FINISHED, Status.CANCELLED)
    assert node.get("liveodds") == ("booked" if expected else "not_available")


def test_an_event_is_made_of_a_match_and_its_entrants() -> None:
    match = Match(id=LIVE_EVENT.id, number=9, home="A", away="B", event="E", best_of=5, scheduled_at=1000)
    event = sport_events.event(match, TOURNAMENT, HOME, AWAY, field_groups=EVERY, booked=False)
    assert event.summary.number == 9
    assert (event.best_of, event.scheduled_at, event.started_at, event.booked) == (5, 1000, None, False)


def test_a_key_sees_of_a_match_what_its_groups_open() -> None:
    about = MatchInfo(streams=(VideoStream("https://live.example/a"),))
    play = MapPlay(1, "de_inferno", "live")
    match = Match(UUID(int=1), 9, "A", "B", "E", started_at=5000, scheduled_at=1000, maps=(play,), info=about)

    def seen(*opened: Group) -> sport_events.SportEvent:
        return sport_events.event(match, TOURNAMENT, HOME, AWAY, field_groups=frozenset(opened))

    basic, read, detail = seen(Group.BASIC), seen(Group.BASIC, Group.READ), seen(Group.BASIC, Group.DETAIL)
    assert (basic.started_at, basic.summary.maps, basic.streams) == (None, (), ())
    assert (read.started_at, read.summary.maps, read.streams) == (5000, (play,), ())
    assert (detail.started_at, detail.summary.maps, detail.streams) == (None, (), about.streams)


def test_the_winner_stands_among_the_competitors() -> None:
    for winner in ("home", "away"):
        head = msgspec.structs.replace(FINISHED_EVENT.summary, winner=winner, home_id=None, away_id=None)
        root = read(sport_events.match_summary(msgspec.structs.replace(FINISHED_EVENT, summary=head)))
        winner_id = root.find("sport_event_status").get("winner_id")
        (node,) = [node for node in root.iter("competitor") if node.get("qualifier") == winner]
        assert node.get("id") == winner_id


def test_those_who_take_part_stand_within_the_tournament_and_beside_it() -> None:
    root = read(entrants.tournament_info(TOURNAMENT))
    within, beside = root.find("tournament/competitors"), root.find("competitors")
    assert etree.tostring(within) == etree.tostring(beside)
    assert len(beside) == 2


@pytest.mark.parametrize("root", get_args(responses.NotFoundRoot))
def test_not_found_is_the_resources_root_around_the_mark(root: str) -> None:
    found = read(responses.not_found(root))  # type: ignore[arg-type]
    assert found.tag == root
    assert [(node.tag, dict(node.attrib)) for node in found] == [("response", {"response_code": "NOT_FOUND"})]


@pytest.mark.parametrize("empty", [True, False])
def test_generated_at_is_in_the_root_and_changes_nothing_else(empty: bool) -> None:
    document = sport_events.schedule([] if empty else [LIVE_EVENT])
    root = read(responses.with_generated_at(document, APRIL_2031))
    assert root.attrib.pop("generated_at") == "2031-04-02T16:00:00Z"
    assert etree.tostring(root) == etree.tostring(read(document))
    with pytest.raises(ValueError, match="no document"):
        responses.with_generated_at(b"", APRIL_2031)


def test_a_status_code_that_the_feed_never_sends_is_refused() -> None:
    with pytest.raises(ValueError, match="2 is not a valid"):
        dictionaries.match_status_descriptions([MatchStatus(2, Text("Suspended"))], "en")


def test_every_described_market_has_its_one_outcome() -> None:
    for market in read(dictionaries.market_descriptions(TYPES, "en")):
        assert [node.get("id") for node in market.find("outcomes")] == ["1"]


@pytest.mark.parametrize("locale", LOCALES)
def test_no_text_is_empty_in_any_language(locale: Locale) -> None:
    for build, rows in (
        (dictionaries.market_descriptions, TYPES),
        (dictionaries.match_status_descriptions, STATUSES),
        (dictionaries.void_reasons_descriptions, REASONS),
    ):
        root = read(build(rows, locale))  # type: ignore[operator]
        assert "" not in {value for node in root.iter() for value in node.attrib.values()}


def test_identity_has_what_whoami_has_and_no_secret() -> None:
    root = read(responses.bookmaker_details(GRANT))
    assert {node.get("name") for node in root.find("scopes")} == GRANT.scopes
    assert {node.get("slug") for node in root.find("sport_allowlist")} == GRANT.sports
    assert root.get("virtual_host") == GRANT.tenant.slug
    assert root.get("rate_limit_rpm") == "600"
