"""A tenant, what one of its keys may see, and the people: a tenant's, who sign in to its portal, and
operators, who sign in to the console."""

from enum import StrEnum
from uuid import UUID

import msgspec

from app.domain.profiles import ProfileChange
from app.domain.tenant_offer import TenantOffer
from app.domain.types_off import TypeOff

RATE_LIMIT_RPM = 600  #: unless the contract has another limit
#: For keys of unmodified SDKs: covers a start of the one that calls most, with 200 matches in two languages.
SDK_RATE_LIMIT_RPM = 20_000


MAX_QUEUES = 10  #: how many queues a tenant may have, unless its contract says otherwise
NUMBERED_VHOST = "/oddinfeed/"  #: before the tenant's number: the vhost that some clients have built in
_LARGEST_NUMBER = 2**31 - 1


class Tenant(msgspec.Struct, frozen=True):
    """A business customer. `amqp` is true once its vhost has been provisioned; with `probabilities` it
    receives the model's probabilities with the odds, and with `bet_stop` this message where a match stops.
    `types_off`: when which market types were switched off
    for it, `profiles`: by which profiles its odds were made since when. `max_queues`: how many queues it may
    have. `named_vhost`: the name of its vhost, where that is not its slug."""

    id: UUID
    slug: str
    name: str
    amqp: bool = False
    active: bool = True
    probabilities: bool = False
    types_off: tuple[TypeOff, ...] = ()
    max_queues: int = MAX_QUEUES
    named_vhost: str = ""
    profiles: tuple[ProfileChange, ...] = ()
    bet_stop: bool = False

    @property
    def offer(self) -> TenantOffer:
        """What it was and is offered."""
        return TenantOffer(self.types_off, self.profiles)

    @property
    def vhost(self) -> str:
        """The name of its vhost."""
        return self.named_vhost or self.slug

    @property
    def bookmaker_id(self) -> int:
        """Its number, the same for ever, for clients that know tenants by number."""
        return self.id.int % _LARGEST_NUMBER + 1


class Grant(msgspec.Struct, frozen=True):
    """What a presented key may do; `access` returns it to every channel.

    `finished_only` keys see finished matches and nothing else, on every channel.
    """

    key_id: UUID
    tenant: Tenant
    scopes: frozenset[str]
    sports: frozenset[str]
    rate_limit_rpm: int = RATE_LIMIT_RPM
    finished_only: bool = False
    operator: bool = False

    @property
    def owner(self) -> str:
        """The owner of the key: all keys of an operator share one set of request ids."""
        return f"key:{self.tenant.slug}"

    @property
    def actor(self) -> str:
        """The name of this key's user in the audit log."""
        return f"{self.owner}/{self.key_id}"


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
        """The fields about them in the log lines of the request."""
        return {"user": str(self.user.id), "tenant": self.tenant.slug}

    def __repr__(self) -> str:
        return f"SignedIn(user={self.user.id}, session_id={self.session_id}, csrf_token=…)"


def actors_of(address: str) -> list[str]:
    """The names in the audit log of a user and of an operator with that address, or that pseudonym."""
    return [kind + address for kind in (_ACTOR, _OPERATOR)]


def is_user(actor: str) -> bool:
    """Whether that name in the audit log is a user's: not an operator's, a key's or the command line's."""
    return actor.startswith(_ACTOR)
