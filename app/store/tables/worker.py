from piccolo.columns import BigInt, Boolean, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class WorkerBeat(Table, tablename="worker_beat", db=DIALECT):
    """The last heartbeat of each worker process, and whether it reached the broker then."""

    worker = Text(primary_key=True)
    kind = Text()
    at = BigInt()
    reaches_broker = Boolean(default=True)
