"""Operators: who signs in to the trading console, with which role.

They are users of a tenant of their own, which has no keys, no vhost and no owner, so that the people of no
tenant can change them. `by` names the actor, `now` is Unix ms.
"""

from uuid import UUID, uuid4

import msgspec

from app.access import users as people
from app.domain.tenant import OperatorRole, Role, Tenant, User
from app.kit.errors import NotFound
from app.store import tenants, users
from app.store.transaction import Tx

#: No tenant that is created has such a slug (`admin.create_tenant`).
TENANT = "operators-"


async def create_operator(tx: Tx, email: str, name: str, role: OperatorRole, *, by: str, now: int) -> User:
    """A new operator, without a password yet. Raises as `users.create_user`."""
    await _tenant(tx, now)
    return await people.create_user(tx, TENANT, email, name, Role.READER, by=by, now=now, operator_role=role)


async def set_role(tx: Tx, email: str, role: OperatorRole, *, by: str, now: int) -> User:
    """Give an operator another role, at once in all their sessions. Raises `NotFound`."""
    record = await users.lock(tx, (await by_email(tx, email)).id)
    if record.user.operator_role is role:
        return record.user
    changed = msgspec.structs.replace(record.user, operator_role=role)
    await users.save(tx, msgspec.structs.replace(record, user=changed))
    await people.audit_change(tx, by, now, "user.role", changed, operator_role=role.value)
    return changed


async def by_email(tx: Tx, email: str) -> User:
    """The active operator with that address. Raises `NotFound`."""
    record = await users.by_email(tx, people.normalized_email(email))
    if record is None or not record.user.is_operator:
        raise NotFound(f"There is no active operator {email!r}.")
    return record.user


async def listing(tx: Tx) -> list[User]:
    """All operators, those that have ended too, oldest first."""
    found = [each for each in await tenants.listing(tx) if each.slug == TENANT]
    return await users.listing(tx, found[0].id) if found else []


async def _tenant(tx: Tx, now: int) -> UUID:
    found = [each for each in await tenants.listing(tx) if each.slug == TENANT]
    if found:
        return found[0].id
    tenant = Tenant(uuid4(), TENANT, "Operators")
    await tenants.insert(tx, tenant, now)
    return tenant.id
