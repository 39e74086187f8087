"""Matches as the facade and the `.xml` siblings show them: fixture, summary, schedule; and their changes."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from app.domain.catalogue import Locale
from app.domain.entrants import Competitor, Tournament
from app.domain.ids import match_urn
from app.domain.match import Match, MatchSummary, Status, summarize
from app.domain.match_info import VideoStream
from app.wire.fields import Group, Groups
from app.wire.generated import common, facade
from app.wire.text import valid_time, web_url
from app.wire.xml import match_state
from app.wire.xml.dialect import SPECIFICATION, Dialect
from app.wire.xml.entrants import competitor_element, tournament_element

SPORT_FORMAT = "classic"  #: two teams; the only other value that clients know is "race"
_JOINED: dict[Locale, str] = {"en": "{home} vs {away}", "ru": "{home} против {away}"}
_STATUS_WORD = {
    Status.DISCOVERED: facade.StatusWord.NOT_STARTED,
    Status.UPCOMING: facade.StatusWord.NOT_STARTED,
    Status.LIVE: facade.StatusWord.LIVE,
    Status.FINISHED: facade.StatusWord.CLOSED,
    Status.CANCELLED: facade.StatusWord.CANCELLED,
}
_TO_COME = (Status.DISCOVERED, Status.UPCOMING, Status.LIVE)


class SportEvent(msgspec.Struct, frozen=True):
    """A match with its teams and tournament, as far as XML shows it and a key may see it. Times are Unix ms;
    `booked` is whether the tenant gets its odds on the feed."""

    id: UUID
    summary: MatchSummary
    tournament: Tournament
    home: Competitor
    away: Competitor
    best_of: int = 1
    scheduled_at: int | None = None
    started_at: int | None = None
    booked: bool = True
    streams: tuple[VideoStream, ...] = ()


class FixtureChanged(msgspec.Struct, frozen=True):
    """The latest change of a match's fixture, at Unix ms."""

    number: int
    at: int


def event(
    match: Match,
    tournament: Tournament,
    home: Competitor,
    away: Competitor,
    *,
    field_groups: Groups,
    booked: bool = True,
) -> SportEvent:
    """`match` with its entrants, as XML shows it to a key that opens these field groups."""
    read = Group.READ in field_groups
    head = summarize(match)
    return SportEvent(
        id=match.id,
        summary=head if read else msgspec.structs.replace(head, maps=(), round=None),
        tournament=tournament,
        home=home,
        away=away,
        best_of=match.best_of,
        scheduled_at=match.scheduled_at,
        started_at=match.started_at if read else None,
        booked=booked,
        streams=match.info.streams if Group.DETAIL in field_groups else (),
    )


def fixtures_fixture(found: SportEvent, locale: Locale = "en", dialect: Dialect = SPECIFICATION) -> bytes:
    """One match before it is played."""
    fixture = facade.Fixture(
        start_time=valid_time(found.scheduled_at if found.started_at is None else found.started_at),
        tv_channels=_channels(found.streams),
        **_common(found, locale, dialect),
    )
    return facade.write_fixtures_fixture(facade.FixturesFixture(fixture=fixture))


def match_summary(found: SportEvent, locale: Locale = "en", dialect: Dialect = SPECIFICATION) -> bytes:
    """One match with its status and score."""
    return facade.write_match_summary(
        facade.MatchSummary(
            sport_event=_sport_event(found, locale, dialect), sport_event_status=_status(found)
        )
    )


def schedule(
    found: Sequence[SportEvent],
    locale: Locale = "en",
    dialect: Dialect = SPECIFICATION,
    *,
    total: int | None = None,
    next_cursor: str | None = None,
) -> bytes:
    """Matches, in the order of `found`; of a list in pages `total`, and `next_cursor` if a page follows."""
    events = tuple([_sport_event(item, locale, dialect) for item in found])
    return facade.write_schedule(facade.Schedule(sport_event=events, total=total, next_cursor=next_cursor))


def fixture_changes(found: Sequence[FixtureChanged]) -> bytes:
    """The matches whose fixture has changed, in the order of `found`."""
    rows = [facade.ChangedFixture(sport_event_id=match_urn(one.number), update_time=one.at) for one in found]
    return facade.write_fixture_changes(facade.FixtureChanges(fixture_change=tuple(rows)))


def _sport_event(found: SportEvent, locale: Locale, dialect: Dialect) -> facade.SportEvent:
    return facade.SportEvent(**_common(found, locale, dialect))


def _common(found: SportEvent, locale: Locale, dialect: Dialect) -> dict[str, Any]:
    """What a fixture and an event in a schedule or summary share."""
    head = found.summary
    live_odds = (
        facade.LiveOdds.BOOKED if found.booked and head.status in _TO_COME else facade.LiveOdds.NOT_AVAILABLE
    )
    return {
        "id": match_urn(head.number),
        "name": _JOINED[locale].format(home=found.home.name, away=found.away.name),
        "scheduled": valid_time(found.scheduled_at),
        "start_time_tbd": found.scheduled_at is None,
        "status": _STATUS_WORD[head.status],
        "liveodds": live_odds,
        "tournament": tournament_element(found.tournament, dialect),
        "competitors": facade.Competitors(
            competitor=(
                competitor_element(found.home, qualifier=facade.Qualifier.HOME),
                competitor_element(found.away, qualifier=facade.Qualifier.AWAY),
            )
        ),
        "extra_info": _extra_info(found),
    }


def _extra_info(found: SportEvent) -> facade.ExtraInfo:
    facts = {"sport_format": SPORT_FORMAT, "best_of": str(found.best_of), "match_id": str(found.id)}
    return facade.ExtraInfo(info=tuple([facade.Info(key=key, value=value) for key, value in facts.items()]))


def _channels(streams: Sequence[VideoStream]) -> facade.TvChannels | None:
    channels = [
        facade.TvChannel(name=one.name or url, language=one.language or None, stream_url=url)
        for one in streams
        if (url := web_url(one.url))
    ]
    return facade.TvChannels(tv_channel=tuple(channels)) if channels else None


def _status(found: SportEvent) -> facade.SummaryStatus:
    head = found.summary
    board = match_state.scoreboard(head)
    return facade.SummaryStatus(
        status=_STATUS_WORD[head.status],
        match_status_code=common.StatusCode(head.status.code),
        home_score=head.score_home,
        away_score=head.score_away,
        winner_id=match_state.winner_id(head, found.home.id, found.away.id),
        scoreboard_available=board is not None,
        period_scores=match_state.period_scores(head),
        scoreboard=board,
    )
