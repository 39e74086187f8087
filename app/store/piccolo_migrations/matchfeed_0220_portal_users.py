"""The people of tenants, their one-time links and their sessions."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Boolean, Bytea, Column, ForeignKey, Integer, Text
from piccolo.columns.base import OnDelete
from piccolo.table import Table

ID = "2031-01-01T00:03:40:000000"
VERSION = "1.38.0"
DESCRIPTION = "the people of tenants, their one-time links and their sessions"


class Tenant(Table, tablename="tenant"):
    """What the new tables refer to."""

    id = UUID(primary_key=True)


class PortalUser(Table, tablename="portal_user"):
    """What the new tables refer to."""

    id = UUID(primary_key=True)


def _id() -> Column:
    return UUID(primary_key=True, default=None)


def _of(table: type[Table]) -> Column:
    return ForeignKey(table, on_delete=OnDelete.cascade, null=False, index=True)


# The default None is that of a column without one.
COLUMNS: dict[str, dict[str, Column]] = {
    "portal_user": {
        "id": _id(),
        "tenant_id": _of(Tenant),
        "email": Text(default=None),
        "name": Text(default=None),
        "role": Text(default=None),
        "active": Boolean(default=True),
        "created_at": BigInt(default=None),
        "last_sign_in_at": BigInt(null=True, default=None),
        "password_hash": Text(null=True, default=None),
        "totp_secret": Bytea(null=True, default=None),
        "totp_pending": Bytea(null=True, default=None),
        "totp_step": BigInt(default=-1),
        "wrong_codes": Integer(default=0),
    },
    "portal_link": {
        "id": _id(),
        "user_id": _of(PortalUser),
        "hash": Bytea(unique=True, default=None),
        "purpose": Text(default=None),
        "without_second_factor": Boolean(default=False),
        "created_at": BigInt(default=None),
        "expires_at": BigInt(default=None),
        "ended_at": BigInt(null=True, default=None),
    },
    "portal_session": {
        "id": _id(),
        "user_id": _of(PortalUser),
        "hash": Bytea(unique=True, default=None),
        "created_at": BigInt(default=None),
        "last_seen_at": BigInt(default=None),
        "address": Text(default=None),
        "user_agent": Text(default=None),
        "password_attempts": Integer(default=0),
    },
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for table, columns in COLUMNS.items():
        manager.add_table(class_name=table, tablename=table)
        for name, column in columns.items():
            manager.add_column(
                table_class_name=table,
                tablename=table,
                column_name=name,
                column_class=type(column),
                params=column._meta.params,
            )
    return manager
