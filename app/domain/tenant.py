"""A tenant, and what one of its keys may see."""

from uuid import UUID

import msgspec

from app.domain.types_off import TypeOff

RATE_LIMIT_RPM = 600  #: unless the contract has another limit
#: For keys of unmodified SDKs: covers a start of the one that calls most, with 200 matches in two languages.
SDK_RATE_LIMIT_RPM = 20_000


MAX_QUEUES = 10  #: how many queues a tenant may have, unless its contract says otherwise
NUMBERED_VHOST = "/oddinfeed/"  #: before the tenant's number: the vhost that some clients have built in
_LARGEST_NUMBER = 2**31 - 1


class Tenant(msgspec.Struct, frozen=True):
    """A business customer. `amqp` is true once its vhost has been provisioned; with `probabilities` it
    receives the model's probabilities with the odds. `types_off`: when which market types were switched off
    for it. `max_queues`: how many queues it may have. `named_vhost`: the name of its vhost, where that is not
    its slug."""

    id: UUID
    slug: str
    name: str
    amqp: bool = False
    active: bool = True
    probabilities: bool = False
    types_off: tuple[TypeOff, ...] = ()
    max_queues: int = MAX_QUEUES
    named_vhost: str = ""

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
