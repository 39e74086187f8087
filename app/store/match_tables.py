"""The tables whose rows belong to a match and are deleted with it."""

from piccolo.table import Table

from app.store.tables.alert import Alert
from app.store.tables.change import Change, PastFixture, PastSeq
from app.store.tables.command import MatchCommand, OperatorCommand
from app.store.tables.consent import ConsentRequest
from app.store.tables.history import LedgerEntry, Round, TimelineEvent
from app.store.tables.market import Market
from app.store.tables.match import MatchReference
from app.store.tables.source import LogOffset, LogParked, LogPending, LogSender
from app.store.tables.statistics import PlayerMap, TeamMap
from app.store.tables.tenant import BookingGap, Unbooked

_NAMING_MATCH = (
    Change,
    PastFixture,
    PastSeq,
    LedgerEntry,
    TimelineEvent,
    Round,
    Market,
    Unbooked,
    BookingGap,
    LogOffset,
    LogPending,
    LogParked,
    MatchReference,
    OperatorCommand,
    MatchCommand,
    ConsentRequest,
    TeamMap,
    PlayerMap,
    Alert,
    LogSender,
)

#: By name.
DEPENDENT_TABLES: dict[str, type[Table]] = {table._meta.tablename: table for table in _NAMING_MATCH}
