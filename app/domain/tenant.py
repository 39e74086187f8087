"""Who we tell: a tenant, and what one of its keys may see."""

from uuid import UUID

import msgspec

RATE_LIMIT_RPM = 600  #: unless the contract says otherwise


class Tenant(msgspec.Struct, frozen=True):
    """A business customer. `amqp` is true once its vhost has been provisioned."""

    id: UUID
    slug: str
    name: str
    amqp: bool = False
    active: bool = True


class Grant(msgspec.Struct, frozen=True):
    """What a presented key may do; the answer of `access` to every channel.

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
    def holder(self) -> str:
        """Whose key it is: an operator's own ids are one set, whichever of its keys it uses."""
        return f"key:{self.tenant.slug}"

    @property
    def actor(self) -> str:
        """Who did what was done with this key, as the audit names them."""
        return f"{self.holder}/{self.key_id}"
