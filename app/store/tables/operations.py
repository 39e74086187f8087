"""What operators commanded, what they should look at, and what the service knows of its own processes."""

from piccolo.columns import UUID, BigInt, Boolean, Integer, SmallInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Computed, Json


class OperatorCommand(Table, tablename="operator_command", db=DIALECT):
    """A command that an operator sent with an id of their own; `request` is its JSON. The key is (actor,
    reference)."""

    actor = Text(primary_key=True)
    reference = Text()
    match_id = UUID()
    at = BigInt()
    request = Json()


class MatchCommand(Table, tablename="match_command", db=DIALECT):
    """A command that was executed, as the match's `revision` counts them: `before` and `after` are what it
    changed (`commands.undo`). `person` is who sent it, whatever key they used; `consent_by` who
    consented, where that was needed; `undone_by` is the revision of the command that undid it. The key is
    (match_id, revision)."""

    match_id = UUID(primary_key=True)
    revision = Integer()
    at = BigInt()
    actor = Text()
    person = Text()
    command = Json()
    before = Json()
    after = Json()
    consent_by = Text(null=True, default=None)
    undone_by = Integer(null=True, default=None)


class ConsentRequest(Table, tablename="consent_request", db=DIALECT):
    """`store.consent_requests.ConsentRequest`, one column per field; `outcome` is null while nobody has
    decided."""

    id = Computed(primary_key=True)
    match_id = UUID()
    at = BigInt()
    actor = Text()
    person = Text()
    reference = Text(null=True, default=None)
    command = Json()
    fingerprint = Text()
    expires_at = BigInt()
    outcome = Text(null=True, default=None)
    decided_at = BigInt(null=True, default=None)
    decided_by = Text(null=True, default=None)
    reason = Text()
    revision = Integer(null=True, default=None)


class Alert(Table, tablename="alert", db=DIALECT):
    """`store.alerts.Alert`, one column per field; `ended_at` is null for an open alert."""

    id = Computed(primary_key=True)
    kind = Text()
    match_id = UUID(null=True, default=None)
    tenant = Text()
    subject = Text()
    detail = Text()
    since = BigInt()
    ended_at = BigInt(null=True, default=None)
    seen_at = BigInt(null=True, default=None)
    seen_by = Text(null=True, default=None)
    taken_at = BigInt(null=True, default=None)
    taken_by = Text(null=True, default=None)
    ended_by = Text(null=True, default=None)


class WorkerBeat(Table, tablename="worker_beat", db=DIALECT):
    """The last heartbeat of each process, whether it reached the broker then, and its compatibility level:
    0 for those of 0.2.0, which do not write the column."""

    worker = Text(primary_key=True)
    kind = Text()
    at = BigInt()
    reaches_broker = Boolean(default=True)
    compatibility = SmallInt(default=0)


class DatabaseTimeline(Table, tablename="database_timeline", db=DIALECT):
    """The one row (`id` 1): on which timeline of the PostgreSQL server the service works, and what is known
    of the last time that it changed.

    `mark` is the seq from which the change log is read since then (0: it never changed), `at` when that was
    (Unix ms). Before it the server had changes up to the seq `head` of the moment `head_at`; `known_seq` is
    the highest seq of which any process knows that it was committed, `known_at` its moment.
    """

    id = Integer(primary_key=True)
    timeline = BigInt()
    mark = BigInt(default=0)
    at = BigInt(default=0)
    head = BigInt(default=0)
    head_at = BigInt(default=0)
    known_seq = BigInt(default=0)
    known_at = BigInt(default=0)
