"""The erasure of a person: of a user of a tenant, or of an operator.

What they did stays recorded under a pseudonym, a random word in the place of their address.
"""

import secrets

import msgspec

from app.access.users import normalized_email
from app.domain.tenant import User, actors_of
from app.kit.errors import Conflict, NotFound
from app.store import audit, erasure, users
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.transaction import Tx
from app.store.users import UserRecord


class Erased(msgspec.Struct, frozen=True):
    """The pseudonym, how many users the person was (those that had ended, too), and in how many rows their
    address was replaced."""

    pseudonym: str
    users: int
    rows: int


async def erase_person(store: Store, email: str, *, by: str, now: int) -> Erased:
    """Delete every user with that address, at once with their sessions and links, and replace the address
    wherever it is stored.

    Where that is interrupted, another call continues. Raises `NotFound` when nothing has the address, and
    `Conflict` for the last active owner of a tenant, and for the last operator who is an admin.
    """
    address, pseudonym = normalized_email(email), f"erased-{secrets.token_hex(8)}"
    if not address:
        raise NotFound(f"{email!r} is no e-mail address.")
    async with store.transaction() as tx:
        found = [record.user for record in await _locked(tx, address)]
        ids = [user.id for user in found]
        await users.delete(tx, ids)
        await erasure.replace_subjects(tx, [str(user_id) for user_id in ids], pseudonym)
        await _record(tx, found, pseudonym, by, now)
    rows = 0
    for table in erasure.PLACES:
        # A transaction of its own for each, so that who waits for a row of one table waits for no other.
        async with store.transaction() as tx:
            rows += await erasure.replace_address(tx, table, address, pseudonym)
    async with store.transaction() as tx:
        await erasure.forget_networks(tx, actors_of(pseudonym))
        if rows and not found:
            await audit.add(tx, AuditRecord(now, by, "user.forget", pseudonym))
    if not rows and not found:
        raise NotFound(f"Nothing is stored of {address!r}.")
    return Erased(pseudonym, len(found), rows)


async def _record(tx: Tx, erased: list[User], pseudonym: str, by: str, now: int) -> None:
    for tenant_id in {user.tenant_id for user in erased}:
        await audit.add(tx, AuditRecord(now, by, "user.forget", pseudonym, tenant_id))


async def _locked(tx: Tx, address: str) -> list[UserRecord]:
    """Every user with that address, locked, the owners of their tenants before them."""
    for each in await users.with_address(tx, address):
        owners = await users.lock_owners(tx, each.user.tenant_id)
        if each.tenant.active and owners == {each.user.id}:
            raise _last_one(each)
    return await users.lock_with_address(tx, address)


def _last_one(record: UserRecord) -> Conflict:
    if record.user.is_operator:
        what = "This is the last operator with the role admin: give it to another one first"
        return Conflict(f"{what} (`matchfeed operator role`), or end this one (`matchfeed operator end`).")
    what = f"This is the last owner of tenant {record.tenant.slug!r}: make another user an owner first"
    return Conflict(f"{what}, or end this one (`matchfeed user end`).", code="last_owner")
