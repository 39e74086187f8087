from piccolo.columns import BigInt, Integer
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


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
