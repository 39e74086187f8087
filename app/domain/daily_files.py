"""Daily files: what there is, which scope each kind needs, and what of a tenant its rows depend on.

A day is one of UTC. Its files have what happened on it, by the timestamps of changes and by the times of
rounds and events. For keys that see finished matches only, they have the matches that finished on that day,
from their beginning to the day's end: such a match is in the files of one day.
"""

import re
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from hashlib import blake2b

import msgspec

from app.domain import scopes
from app.domain.tenant import Tenant
from app.domain.tenant_offer import NO_CHANGES, TenantOffer

DAY_MILLIS = 86_400_000
MAX_DAYS = 366  #: that a file may be there: so long it is known which odds a tenant had
#: So long after its end a day is complete: what has its timestamps is committed.
COMPLETE_MILLIS = 15 * 60_000


class FileKind(StrEnum):
    PRICES = "prices"
    SETTLEMENTS = "settlements"
    ROUNDS = "rounds"
    TIMELINE = "timeline"


class FileFormat(StrEnum):
    """A format; the value is how the names of its files end."""

    PARQUET = "parquet"
    CSV = "csv.gz"


SCOPES = {
    FileKind.PRICES: scopes.MARKETS,
    FileKind.SETTLEMENTS: scopes.SETTLEMENTS,
    FileKind.ROUNDS: scopes.DETAIL,
    FileKind.TIMELINE: scopes.DETAIL,
}
#: What the name of a file looks like.
FILE_NAME = (
    rf"^({'|'.join(FileKind)})-([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})\.({'|'.join(map(re.escape, FileFormat))})$"
)
_NAME = re.compile(FILE_NAME)


class FileName(msgspec.Struct, frozen=True):
    """A file as clients name it: `prices-2031-04-02.parquet`."""

    kind: FileKind
    day: date
    form: FileFormat

    def __str__(self) -> str:
        return f"{self.kind}-{self.day}.{self.form}"


def parse_name(text: str) -> FileName | None:
    """The file that is named so; None for what names none."""
    found = _NAME.fullmatch(text)
    try:
        return (
            FileName(FileKind(found[1]), date.fromisoformat(found[2]), FileFormat(found[3]))
            if found
            else None
        )
    except ValueError:
        return None


class Seqs(msgspec.Struct, frozen=True):
    """Between which numbers of the change log a day's changes are, both included."""

    first: int
    last: int


class Variant(msgspec.Struct, frozen=True):
    """What the rows of a file depend on beside its day: tenants for which this is equal have the same
    file."""

    kind: FileKind
    finished_only: bool = False
    offer: TenantOffer = NO_CHANGES
    probabilities: bool = False

    @property
    def digest(self) -> str:
        """The variant's name among those of its day and kind."""
        return blake2b(_encode(self), digest_size=10).hexdigest()


_encode = msgspec.json.Encoder(order="deterministic").encode


def variant_of(kind: FileKind, tenant: Tenant, seqs: Seqs, *, finished_only: bool) -> Variant:
    """The variant of a kind that a key of the tenant may have; `seqs` are those of the day."""
    offer, probabilities = NO_CHANGES, False
    first = 1 if finished_only else seqs.first
    if kind is FileKind.PRICES:
        offer, probabilities = tenant.offer.within(first, seqs.last), tenant.probabilities
    elif kind is FileKind.SETTLEMENTS:
        offer = TenantOffer(tenant.types_off).within(first, seqs.last)
    return Variant(kind, finished_only, offer, probabilities)


def begin_of(day: date) -> int:
    """When the day begins (Unix ms)."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def day_of(millis: int) -> date:
    """The day of a moment (Unix ms)."""
    return datetime.fromtimestamp(millis // 1000, UTC).date()


def last_complete_day(now: int) -> date:
    """The newest day that is complete at `now` (Unix ms)."""
    return day_of(now - COMPLETE_MILLIS) - timedelta(days=1)
