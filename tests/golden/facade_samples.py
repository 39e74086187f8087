"""The REST interface's XML resources in each of their forms."""

from collections.abc import Callable
from decimal import Decimal
from typing import get_args
from uuid import UUID

import msgspec

from app.domain.catalogue import (
    BettingStatus,
    MarketType,
    MatchStatus,
    Specifier,
    SuspensionReason,
    Text,
    VoidReason,
)
from app.domain.entrants import Competitor, Player, Tournament
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import Match
from app.domain.match_info import VideoStream
from app.domain.replay import ReplayJob, ReplayOptions, ReplayState
from app.domain.tenant import Grant, Tenant
from app.wire.xml import cash_out, custom_bet, dictionaries, entrants, replay, responses, sport_events
from app.wire.xml.custom_bet import CalculatedPrice
from tests.golden.feed_samples import CANCELLED, FINISHED, LIVE, UPCOMING

APRIL_2031 = 1_932_912_000_000
DAY = 86_400_000

PLAYERS = (
    Player(101, "k0va", "Ilmar Kovač", "EST", "https://img.example/players/101.png"),
    Player(102, '<b>"ant"</b> & co'),
)
HOME = Competitor(11, "Northern Lights", "NOL", "Estonia", "EST", "https://img.example/teams/11.png", PLAYERS)
AWAY = Competitor(12, "Iron Tide")
TOURNAMENT = Tournament(
    id=5,
    name="Northern Cup 4",
    abbreviation="NC4",
    risk_tier=2,
    starts_at=APRIL_2031,
    ends_at=APRIL_2031 + 9 * DAY,
    icon_url="https://img.example/cups/5.svg",
    competitors=(HOME, AWAY),
)
BARE = Tournament(6, "Untitled")

STREAMS = (
    VideoStream("https://live.example/main?a=1&b=2", "en", "Main stage"),
    VideoStream("https://live.example/b"),
)
PLAYING = ReplayJob(7, UUID(int=1), "", (UUID(int=2),), ReplayOptions(), ReplayState.RUNNING, APRIL_2031)
LIVE_EVENT = sport_events.SportEvent(
    id=UUID(int=4711),
    summary=LIVE,
    tournament=TOURNAMENT,
    home=HOME,
    away=AWAY,
    best_of=3,
    scheduled_at=APRIL_2031,
    started_at=APRIL_2031 + 123_456,
)
UPCOMING_EVENT = sport_events.SportEvent(UUID(int=4712), UPCOMING, BARE, HOME, AWAY)
WATCHED_EVENT = msgspec.structs.replace(LIVE_EVENT, streams=STREAMS)
FINISHED_EVENT = msgspec.structs.replace(LIVE_EVENT, summary=FINISHED)
CANCELLED_EVENT = msgspec.structs.replace(UPCOMING_EVENT, summary=CANCELLED, booked=False)

MAP = Specifier("map", "integer", "Number of the map, counted from 1.")
THRESHOLD = Specifier("threshold", "decimal", "The line.")
TEAM = Specifier("team", "variable_text", "")
TYPES = (
    MarketType(
        1, "winner", Text("{team} to win", "Победит {team}"), "The winner.", (TEAM,), Text("Yes", "Да")
    ),
    MarketType(
        8, "over", Text("Map {map}: over {threshold}"), "", (MAP, THRESHOLD), Text("over {threshold}")
    ),
    MarketType(99, "bare", Text("No specifiers"), "", (), Text("<Yes>")),
)
GRANT = Grant(
    key_id=UUID(int=1),
    tenant=Tenant(UUID(int=2), "acme", "Acme & Sons", amqp=True),
    scopes=frozenset({"cs2:matches:list", "cs2:matches:read"}),
    sports=frozenset({"cs2", "soccer"}),
)
PRODUCER = dictionaries.Producer(2, "live", "Matches being played", "https://api.example/v1/")
STATUSES = (MatchStatus(0, Text("Not started", "Не начался")), MatchStatus(5, Text("Cancelled")))
REASONS = (
    VoidReason(4, "Not played", Text("It did not take place.", "Не состоялось."), "Not played: {reason}"),
)
TAKEN_ON = responses.Acknowledgement("77", f"Replay of {match_urn(4711)}", APRIL_2031)

STOPS = (
    SuspensionReason(2, "silent_source", Text("The server is silent.", "Сервер молчит.")),
    SuspensionReason(37, "other", Text("Another reason.")),
)
BETTING = (BettingStatus(1, Text("Bets are taken.", "Ставки принимаются.")), BettingStatus(3, Text("Over.")))
LIVE_MATCH = Match(
    id=UUID(int=4711), number=4711, home="A", away="B", event="E", best_of=3, last_stamp=APRIL_2031
)
STOPPED_MATCH = msgspec.structs.replace(LIVE_MATCH, suspended="a restart was announced")
PRICED = (
    Market(1, "team=home", MarketStatus.ACTIVE, Decimal("1.85"), 0.5123456789),
    Market(1, "team=away", MarketStatus.SUSPENDED, Decimal("1.9"), 0.48, reason="facts came late"),
    Market(6, "map=1|team=home", MarketStatus.SETTLED, Decimal("1.01"), 0.99, result=Result.WON),
    Market(6, "map=1|team=away", MarketStatus.SETTLED, Decimal("12.5"), 0.01, result=Result.LOST),
    Market(6, "map=3|team=home", MarketStatus.CANCELLED, Decimal("1.9"), 0.5, result=Result.VOID),
    Market(13, "map=2|round=4|team=home", MarketStatus.SUSPENDED, Decimal("2.1"), 0.4, reason="a referee"),
)
SELECTABLE = ((1, "team=home"), (8, "map=1|threshold=21.5"), (10, ""))
SAMPLES: dict[str, Callable[[], bytes]] = {
    "sports": lambda: dictionaries.sports("https://img.example/categories/cs2.svg"),
    "tournaments": lambda: entrants.tournaments([TOURNAMENT, BARE]),
    "tournaments_empty": lambda: entrants.tournaments([]),
    "sport_tournaments": lambda: entrants.sport_tournaments([TOURNAMENT, BARE]),
    "sport_tournaments_generated": lambda: responses.with_generated_at(
        entrants.sport_tournaments([]), APRIL_2031
    ),
    "tournament_info": lambda: entrants.tournament_info(TOURNAMENT),
    "tournament_info_bare": lambda: entrants.tournament_info(BARE),
    "competitor_profile": lambda: entrants.competitor_profile(HOME),
    "competitor_profile_bare": lambda: entrants.competitor_profile(AWAY),
    "player_profile": lambda: entrants.player_profile(PLAYERS[0]),
    "player_profile_bare": lambda: entrants.player_profile(PLAYERS[1]),
    "fixtures_fixture_live": lambda: sport_events.fixtures_fixture(LIVE_EVENT),
    "fixtures_fixture_upcoming": lambda: sport_events.fixtures_fixture(UPCOMING_EVENT),
    "fixtures_fixture_watched": lambda: sport_events.fixtures_fixture(WATCHED_EVENT),
    "match_summary_live": lambda: sport_events.match_summary(LIVE_EVENT),
    "match_summary_ru": lambda: sport_events.match_summary(LIVE_EVENT, "ru"),
    "match_summary_finished": lambda: sport_events.match_summary(FINISHED_EVENT),
    "match_summary_cancelled": lambda: sport_events.match_summary(CANCELLED_EVENT),
    "schedule": lambda: sport_events.schedule([UPCOMING_EVENT, LIVE_EVENT], "ru"),
    "schedule_empty": lambda: sport_events.schedule([]),
    "schedule_generated": lambda: responses.with_generated_at(sport_events.schedule([]), APRIL_2031),
    "fixture_changes": lambda: sport_events.fixture_changes(
        [sport_events.FixtureChanged(4712, APRIL_2031), sport_events.FixtureChanged(4711, APRIL_2031 + DAY)]
    ),
    "fixture_changes_empty": lambda: sport_events.fixture_changes([]),
    "market_descriptions": lambda: dictionaries.market_descriptions(TYPES, "en"),
    "market_descriptions_ru": lambda: dictionaries.market_descriptions(TYPES, "ru"),
    "void_reasons_descriptions_ru": lambda: dictionaries.void_reasons_descriptions(REASONS, "ru"),
    "market_descriptions_variant": lambda: dictionaries.market_descriptions(TYPES[:1], "en", "way:two"),
    "match_status_descriptions": lambda: dictionaries.match_status_descriptions(STATUSES, "en"),
    "match_status_descriptions_ru": lambda: dictionaries.match_status_descriptions(STATUSES, "ru"),
    "void_reasons_descriptions": lambda: dictionaries.void_reasons_descriptions(REASONS, "en"),
    "void_reasons": lambda: dictionaries.void_reasons(REASONS),
    "available_selections": lambda: custom_bet.available_selections("od:match:4711", SELECTABLE),
    "available_selections_empty": lambda: custom_bet.available_selections("od:match:4711", ()),
    "calculation_response": lambda: custom_bet.calculation_response(
        CalculatedPrice(Decimal("3.215"), 0.2871), [(4711, SELECTABLE[1:]), (4712, ())]
    ),
    "calculation_response_without_probability": lambda: custom_bet.calculation_response(
        CalculatedPrice(Decimal("3.200"), None), [(4711, SELECTABLE[1:])]
    ),
    "filtered_calculation_response": lambda: custom_bet.filtered_calculation_response(
        CalculatedPrice(Decimal("3.215"), 0.2871),
        [(4711, {SELECTABLE[1]: True, SELECTABLE[0]: False}), (4712, {})],
    ),
    "cashout": lambda: cash_out.cashout(
        "od:match:4711", 1, LIVE_MATCH, LIVE, PRICED, betting_status=cash_out.BETS_TAKEN
    ),
    "cashout_suspended": lambda: cash_out.cashout(
        "od:match:4711", 1, STOPPED_MATCH, None, PRICED[1:2], betting_status=cash_out.NO_BETS
    ),
    "betstop_reasons_descriptions": lambda: dictionaries.betstop_reasons_descriptions(STOPS, "en"),
    "betstop_reasons_descriptions_ru": lambda: dictionaries.betstop_reasons_descriptions(STOPS, "ru"),
    "betting_status_descriptions": lambda: dictionaries.betting_status_descriptions(BETTING, "en"),
    "betting_status_descriptions_ru": lambda: dictionaries.betting_status_descriptions(BETTING, "ru"),
    "producers": lambda: dictionaries.producers([PRODUCER]),
    "bookmaker_details": lambda: responses.bookmaker_details(GRANT),
    "response_accepted": lambda: responses.recovery_accepted(TAKEN_ON),
    "response_accepted_with_all": lambda: responses.recovery_accepted(
        msgspec.structs.replace(TAKEN_ON, node_id="3", after=APRIL_2031 - DAY)
    ),
    "replay_set_content": lambda: replay.replay_set_content(["od:match:4711", "od:match:4712"]),
    "replay_set_content_empty": lambda: replay.replay_set_content([]),
    "player_status_stopped": lambda: replay.player_status(None),
    "player_status_playing": lambda: replay.player_status(PLAYING),
    "response_replay": lambda: replay.replay_accepted("play", "Replay 7 has been started: 2 matches."),
    **{
        f"not_found_{root}": lambda root=root: responses.not_found(root)
        for root in get_args(responses.NotFoundRoot)
    },
}
