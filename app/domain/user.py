"""The people of a tenant, who sign in to its portal, and operators, who sign in to the console."""

from enum import StrEnum
from uuid import UUID

import msgspec

from app.domain.tenant import Tenant

_ACTOR, _OPERATOR = "user ", "operator "


class Role(StrEnum):
    """What a user may do for their tenant; the portal decides which page needs which role."""

    OWNER = "owner"
    DEVELOPER = "developer"
    TRADER = "trader"
    READER = "reader"


class OperatorRole(StrEnum):
    """What an operator may do in the trading console."""

    VIEWER = "viewer"
    TRADER = "trader"
    SETTLER = "settler"
    ADMIN = "admin"


class LinkPurpose(StrEnum):
    """What a one-time link is for: to set the first password, or another one."""

    INVITATION = "invitation"
    RESET = "reset"


class User(msgspec.Struct, frozen=True, kw_only=True):
    """A person of a tenant. `email` is in lower case, and no two active users have the same; a user that is
    not `active` has ended for good. `second_factor`: a code is required to sign in. One with an
    `operator_role` is an operator: they sign in to the console only, and the others to the portal only. Times
    in Unix ms."""

    id: UUID
    tenant_id: UUID
    email: str
    name: str
    role: Role
    active: bool = True
    created_at: int
    last_sign_in_at: int | None = None
    has_password: bool = False
    second_factor: bool = False
    operator_role: OperatorRole | None = None

    @property
    def is_operator(self) -> bool:
        return self.operator_role is not None

    @property
    def actor(self) -> str:
        """The name of this user in the audit log."""
        return f"{_OPERATOR if self.is_operator else _ACTOR}{self.email}"


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A signed-in browser, with the address and the `User-Agent` that it signed in with. Times in Unix ms."""

    id: UUID
    created_at: int
    last_seen_at: int
    address: str
    user_agent: str


class SignedIn(msgspec.Struct, frozen=True):
    """Who sent a request. Forms carry `csrf_token`, which nobody can compute without the session's token."""

    user: User
    tenant: Tenant
    session_id: UUID
    csrf_token: str

    @property
    def actor(self) -> str:
        """The name of this user in the audit log."""
        return self.user.actor

    @property
    def log_fields(self) -> dict[str, str]:
        """What log lines of the request have of them."""
        return {"user": str(self.user.id), "tenant": self.tenant.slug}

    def __repr__(self) -> str:
        return f"SignedIn(user={self.user.id}, session_id={self.session_id}, csrf_token=…)"


def is_user(actor: str) -> bool:
    """Whether that name in the audit log is a user's: not an operator's, a key's or the command line's."""
    return actor.startswith(_ACTOR)
