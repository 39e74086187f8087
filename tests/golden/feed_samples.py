"""The feed's messages in each of their forms."""

from collections.abc import Callable
from decimal import Decimal

from msgspec.structs import replace

from app.domain.market import Market, MarketStatus, Result
from app.domain.match import MapPlay, MatchSummary, Status
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.wire.xml import feed

EVENT, PRODUCT, STAMP, REQUEST = "od:match:4711", 2, 1_932_912_000_125, "9" * 64

LIVE = MatchSummary(
    number=4711,
    status=Status.LIVE,
    home="Northern Lights",
    away="Iron Tide",
    score_home=1,
    home_id=11,
    away_id=12,
    maps=(
        MapPlay(number=1, name="de_mirage", status="finished", home_score=13, away_score=9, winner="home"),
        MapPlay(number=2, name="de_nuke", status="live", home_score=4, away_score=6, home_side="T"),
        MapPlay(number=3, name="de_inferno"),
    ),
    round=11,
)
FINISHED = MatchSummary(
    number=4711,
    status=Status.FINISHED,
    home="Northern Lights",
    away="Iron Tide",
    score_home=1,
    score_away=2,
    winner="away",
    home_id=11,
    away_id=12,
    maps=(
        MapPlay(number=1, status="finished", home_score=13, away_score=9, winner="home"),
        MapPlay(number=2, status="finished", home_score=8, away_score=13, winner="away"),
        MapPlay(number=3, status="finished", home_score=14, away_score=16, winner="away"),
    ),
)
UPCOMING = MatchSummary(number=4711, status=Status.UPCOMING, home="Northern Lights", away="Iron Tide")
CANCELLED = MatchSummary(number=4711, status=Status.CANCELLED, home="Northern Lights", away="Iron Tide")

MARKETS = [
    Market(13, "map=2|round=11|team=home", MarketStatus.ACTIVE, Decimal("1.85"), 0.51),
    Market(
        14, "map=2|round=11|team=away", MarketStatus.SUSPENDED, Decimal("2.105"), 0.45, reason="round live"
    ),
    Market(8, "map=2|threshold=21.5", MarketStatus.INACTIVE, Decimal("50"), 0.01, favourite=True),
    Market(8, "map=2|threshold=22.5", MarketStatus.ACTIVE, Decimal("1.9"), 0.5, favourite=True),
    Market(1, "", MarketStatus.SETTLED, Decimal("1.01"), 0.99, result=Result.WON),
    Market(6, "map=3|team=home", MarketStatus.CANCELLED, Decimal("1.9"), 0.5, void_reason_id=4),
    Market(99, 'player=<Zoë & "The Ant">\t\x07é', MarketStatus.ACTIVE, Decimal("12.0"), 0.08),
]


def _settled(outcome: Result, type_id: int = 13, specifiers: str = "map=2|round=10|team=home") -> LedgerEntry:
    return LedgerEntry(
        type_id=type_id,
        specifiers=specifiers,
        previous_status=LedgerStatus.PENDING,
        new_status=LedgerStatus.SETTLED,
        result=outcome,
        reason="round won",
    )


def _voided(void_reason_id: int | None, specifiers: str = "map=3|team=home") -> LedgerEntry:
    return LedgerEntry(
        type_id=6,
        specifiers=specifiers,
        previous_status=LedgerStatus.PENDING,
        new_status=LedgerStatus.VOIDED,
        result=Result.VOID,
        reason="map not played",
        void_reason_id=void_reason_id,
    )


SETTLED = [
    _settled(Result.WON),
    _settled(Result.LOST, specifiers="map=2|round=10|team=away"),
    _settled(Result.WON, 1, ""),
]
VOIDED = [
    _voided(None),
    _voided(14, "map=3|team=away"),
    replace(_voided(15, ""), reason="rule 7|b of the house: stake=0"),
]
WINDOWED = [replace(entry, void_window=VoidWindow(STAMP - 90_000, STAMP - 125)) for entry in VOIDED]
ABOUT = (EVENT, PRODUCT, STAMP)

SAMPLES: dict[str, Callable[[], bytes]] = {
    "alive": lambda: feed.alive(PRODUCT, STAMP, True),
    "alive_unsubscribed": lambda: feed.alive(PRODUCT, STAMP, False),
    "odds_change": lambda: feed.odds_change(*ABOUT, LIVE, MARKETS),
    "odds_change_replayed": lambda: feed.odds_change(*ABOUT, LIVE, MARKETS, REQUEST),
    "odds_change_with_probabilities": lambda: feed.odds_change(*ABOUT, LIVE, MARKETS, probabilities=True),
    "odds_change_finished": lambda: feed.odds_change(*ABOUT, FINISHED, []),
    "odds_change_upcoming": lambda: feed.odds_change(*ABOUT, UPCOMING, []),
    "odds_change_cancelled": lambda: feed.odds_change(*ABOUT, CANCELLED, []),
    "odds_change_without_status": lambda: feed.odds_change(*ABOUT, None, MARKETS[:1]),
    "bet_stop": lambda: feed.bet_stop(*ABOUT),
    "bet_settlement": lambda: feed.ledger_message("bet_settlement", *ABOUT, SETTLED),
    "bet_settlement_replayed": lambda: feed.ledger_message("bet_settlement", *ABOUT, SETTLED, REQUEST),
    "bet_cancel": lambda: feed.ledger_message("bet_cancel", *ABOUT, VOIDED),
    "bet_cancel_replayed": lambda: feed.ledger_message("bet_cancel", *ABOUT, VOIDED, REQUEST),
    "bet_cancel_window": lambda: feed.ledger_message("bet_cancel", *ABOUT, WINDOWED),
    "bet_cancel_window_replayed": lambda: feed.ledger_message("bet_cancel", *ABOUT, WINDOWED, REQUEST),
    "rollback_bet_settlement": lambda: feed.ledger_message("rollback_bet_settlement", *ABOUT, SETTLED),
    "rollback_bet_settlement_replayed": lambda: feed.ledger_message(
        "rollback_bet_settlement", *ABOUT, SETTLED, REQUEST
    ),
    "rollback_bet_cancel": lambda: feed.ledger_message("rollback_bet_cancel", *ABOUT, VOIDED),
    "rollback_bet_cancel_replayed": lambda: feed.ledger_message(
        "rollback_bet_cancel", *ABOUT, VOIDED, REQUEST
    ),
    "rollback_bet_cancel_window": lambda: feed.ledger_message("rollback_bet_cancel", *ABOUT, WINDOWED),
    "fixture_change_kickoff": lambda: feed.fixture_change(*ABOUT, 1),
    "fixture_change_cancellation": lambda: feed.fixture_change(*ABOUT, 3, REQUEST),
    "snapshot_complete": lambda: feed.snapshot_complete(PRODUCT, STAMP, REQUEST),
}
