"""The compatibility facade's paths, data for them to return, and checks of their responses."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import msgspec
from lxml import etree

from app.domain.entrants import Competitor, Player, Tournament
from app.domain.ids import match_urn
from app.domain.match import CurrentRound, MapPlay, Match, Status
from app.domain.match_info import MatchInfo, VideoStream
from app.settings import Settings
from app.store import entrants, matches
from app.store.connections import Store

_SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
SCHEMA = etree.XMLSchema(etree.parse(_SCHEMAS / "facade.xsd"))
LOCALES = ("en", "ru")
SDK_PORT = 8443
SDK = f"https://matchfeed.test:{SDK_PORT}"  #: the SDK address of an application with that port
DAY = 86_400_000
APRIL_2031 = 1_932_912_000_000
DATE = "2031-04-02"

#: Every GET of the facade, with its root and the scopes of which one opens it.
PATHS: dict[str, tuple[str, tuple[str, ...]]] = {
    "/v1/users/whoami": ("bookmaker_details", ()),
    "/v1/sports/{locale}/sports": ("sports", ()),
    "/v1/sports/{locale}/tournaments": ("tournaments", ("cs2:tournaments:list",)),
    "/v1/sports/{locale}/sports/3/tournaments": ("sport_tournaments", ("cs2:tournaments:list",)),
    "/v1/sports/{locale}/tournaments/{tournament}/info": ("tournament_info", ("cs2:tournaments:read",)),
    "/v1/sports/{locale}/sport_events/{event}/summary": ("match_summary", ("cs2:matches:read",)),
    "/v1/sports/{locale}/sport_events/{event}/fixture": (
        "fixtures_fixture",
        ("cs2:matches:list", "cs2:matches:read"),
    ),
    "/v1/sports/{locale}/competitors/{competitor}/profile": ("competitor_profile", ("cs2:teams:read",)),
    "/v1/sports/{locale}/players/{player}/profile": ("player_profile", ("cs2:players:read",)),
    "/v1/sports/{locale}/schedules/pre/schedule": ("schedule", ("cs2:matches:list",)),
    "/v1/sports/{locale}/schedules/live/schedule": ("schedule", ("cs2:matches:list",)),
    "/v1/sports/{locale}/schedules/" + DATE + "/schedule": ("schedule", ("cs2:matches:list",)),
    "/v1/sports/{locale}/fixtures/changes": ("fixture_changes", ("cs2:matches:list",)),
    "/v1/custombet/{event}/available_selections": ("available_selections", ("cs2:markets:read",)),
    "/v1/probabilities/{event}": ("cashout", ("cs2:markets:read",)),
    "/v1/descriptions/{locale}/betstop_reasons": ("betstop_reasons_descriptions", ()),
    "/v1/descriptions/betstop_reasons.xml": ("betstop_reasons_descriptions", ()),
    "/v1/descriptions/{locale}/betting_status": ("betting_status_descriptions", ()),
    "/v1/descriptions/betting_status.xml": ("betting_status_descriptions", ()),
    "/v1/descriptions/{locale}/markets": ("market_descriptions", ()),
    "/v1/descriptions/{locale}/markets/1/variants/way:two": ("market_descriptions", ()),
    "/v1/descriptions/{locale}/match_status": ("match_status_descriptions", ()),
    "/v1/descriptions/{locale}/void_reasons": ("void_reasons_descriptions", ()),
    "/v1/descriptions/void_reasons": ("void_reasons", ()),
    "/v1/descriptions/producers": ("producers", ()),
}
POSTS = (
    "/v1/live/recovery/initiate_request?request_id=7",
    "/v1/live/odds/events/{event}/initiate_request",
    "/v1/live/stateful_messages/events/{event}/initiate_request",
)
#: The roots that carry how the request went, where clients look for it.
CODED = {
    "bookmaker_details",
    "market_descriptions",
    "match_status_descriptions",
    "void_reasons_descriptions",
    "void_reasons",
    "producers",
    "betstop_reasons_descriptions",
    "betting_status_descriptions",
}


class World(msgspec.Struct, frozen=True):
    """A tournament with two teams and a player, and a match of theirs in each state."""

    tournament: Tournament
    home: Competitor
    away: Competitor
    player: Player
    matches: dict[Status, Match]

    def path(self, template: str, locale: str = "en", status: Status = Status.LIVE) -> str:
        """A path with everything filled in; the event is the match in that state."""
        return template.format(
            locale=locale,
            tournament=self.tournament.id,
            competitor=self.home.id,
            player=self.player.id,
            event=match_urn(self.matches[status].number),
        )


HOME = Competitor(11, "Northern Lights", "NOL", "Estonia", "EST", "https://img.example/teams/11.png")
AWAY = Competitor(12, "Iron Tide")
PLAYER = Player(101, "k0va", "Ilmar Kovač", "EST", "https://img.example/players/101.png", team_id=11)
TOURNAMENT = Tournament(
    5,
    "Northern Cup 4",
    "NC4",
    2,
    APRIL_2031,
    APRIL_2031 + 9 * DAY,
    "https://img.example/5.svg",
    team_ids=(11,),
)
STREAMS = (VideoStream("https://live.example/main?a=1&b=2", "en", "Main stage"),)


async def create_world(
    store: Store,
    *,
    tournament: Tournament = TOURNAMENT,
    home: Competitor = HOME,
    away: Competitor = AWAY,
    player: Player = PLAYER,
    linked: bool = True,
    fields: dict[str, Any] | None = None,
) -> World:
    """Store a world. `fields` are set on every match; `linked` ones name their entrants by number."""
    found: dict[Status, Match] = {}
    async with store.transaction() as tx:
        await entrants.put(tx, entrants.TOURNAMENTS, [tournament])
        for team in (away, home):
            await entrants.put(tx, entrants.TEAMS, [team])
        await entrants.put(tx, entrants.PLAYERS, [player])
        for status in Status:
            found[status] = _match(await matches.next_number(tx), status, tournament, home, away, linked)
            found[status] = msgspec.structs.replace(found[status], **(fields or {}))
            await matches.insert(tx, found[status])
    return World(tournament, home, away, player, found)


def _match(
    number: int, status: Status, tournament: Tournament, home: Competitor, away: Competitor, linked: bool
) -> Match:
    begun = status in (Status.LIVE, Status.FINISHED)
    play = MapPlay(1, "de_inferno", "live", 7, 5, home_side="CT")
    return Match(
        id=uuid4(),
        number=number,
        home=home.name,
        away=away.name,
        event=tournament.name,
        best_of=3,
        status=status,
        scheduled_at=None if status is Status.DISCOVERED else APRIL_2031,
        started_at=APRIL_2031 + 123_456 if begun else None,
        finished_at=APRIL_2031 + 9_000_000 if status is Status.FINISHED else None,
        winner="away" if status is Status.FINISHED else None,
        maps=(play,) if begun else (),
        current=CurrentRound(1, 13, "live") if status is Status.LIVE else None,
        home_id=home.id if linked else None,
        away_id=away.id if linked else None,
        tournament_id=tournament.id if linked else None,
        info=MatchInfo(streams=STREAMS),
    )


def with_sdk_address(settings: Settings) -> Settings:
    """The settings of an application that has the SDK address, too."""
    return msgspec.structs.replace(settings, sdk_port=SDK_PORT, sdk_public_url=SDK)


def document(answer: httpx.Response, root: str, status: int = 200) -> Any:
    """The answer's document, once it is found to be what a facade answers: XML, valid, of that root."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/xml"
    found = etree.fromstring(answer.content)
    SCHEMA.assertValid(found)
    assert found.tag == root
    assert b"xmlns" not in answer.content
    if status == 200:
        assert found.get("generated_at")
        assert (found.get("response_code") == "OK") == (root in CODED)
    return found


def same_in_the_dialect(plain: httpx.Response, sdk: httpx.Response) -> None:
    """Check that the SDK address differs from the public one by the id of the sport and its own address,
    and by nothing else."""
    expected = plain.content.replace(b'<sport id="3"', b'<sport id="od:sport:2"')
    expected = expected.replace(b' sport="3"', b' sport="od:sport:2"')
    expected = expected.replace(b' api_url="http://127.0.0.1:8000/v1/"', f' api_url="{SDK}/v1/"'.encode())
    assert _undated(sdk.content) == _undated(expected)


def _undated(content: bytes) -> bytes:
    return re.sub(rb' generated_at="[^"]*"', b"", content, count=1)


def detail(answer: httpx.Response, status: int) -> Any:
    """The detail of an error response: JSON, whatever format was requested."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    (detail,) = answer.json().values()
    assert list(answer.json()) == ["detail"]
    return detail
