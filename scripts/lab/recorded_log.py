"""A copy of the change log that is never pruned: a fail-over prunes the log to its mark."""

from app.store.changes import ChangeRow
from app.store.transaction import Tx

_INSTALL = (
    "CREATE TABLE IF NOT EXISTS recorded_change (LIKE change)",
    """
    CREATE OR REPLACE FUNCTION record_changes() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO recorded_change SELECT * FROM appended; RETURN NULL; END'
    """,
    """
    CREATE OR REPLACE TRIGGER record_changes AFTER INSERT ON change REFERENCING NEW TABLE AS appended
    FOR EACH STATEMENT EXECUTE FUNCTION record_changes()
    """,
)
_READ = """
SELECT seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body, arrived_at
FROM recorded_change WHERE seq > $1 ORDER BY seq
"""


async def install(tx: Tx) -> None:
    """Record what is appended from now on, also after a fail-over: the copy is replicated, too."""
    for statement in _INSTALL:
        await tx.execute(statement)


async def read(tx: Tx, since: int) -> list[ChangeRow]:
    """What was appended after the change `since`, in order."""
    return [ChangeRow(**row) for row in await tx.fetch(_READ, since)]


async def marks(tx: Tx) -> tuple[int, ...]:
    """The change with which a fail-over closed the log before it: the next message of each match names it as
    the one before. Empty where there was none."""
    mark = await tx.value("SELECT mark FROM database_timeline")
    return (mark,) if mark else ()
