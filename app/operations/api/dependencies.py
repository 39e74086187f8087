"""What the operators' handlers depend on, and what they share."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from msgspec import Meta

from app.access import log_tokens
from app.access.admin import BrokerConfig
from app.access.grants import Grants
from app.commands.command_service import CommandService
from app.domain.match import Match
from app.http.auth import AuthenticatedRequest
from app.kit.clock import Clock
from app.kit.errors import Field, Invalid
from app.store import matches
from app.store.connections import Store
from app.trading.pricing import PricingConfig

OPERATOR: dict[str, Any] = {"operator": True}
LIMITED: dict[str, Any] = OPERATOR | {"query": ("limit",)}
TENANT = "/ops/v1/tenants/{slug:str}"
MATCH = ("query", "match")  #: the parameter of lists that may be about one match
Limit = Annotated[int, QueryParameter(ge=1, le=1000)]
Text = Annotated[str, Meta(max_length=120)]


class OperatorDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of the handlers. `secret` keys the hashes of API keys and signs log tokens; `pricing`
    is how prices are made; `public_url` is the base of log sink addresses; in a `sandbox` finished matches
    may be trimmed by number."""

    store: Store
    grants: Grants
    clock: Clock
    secret: str
    broker: BrokerConfig
    internal_vhost: str
    pricing: PricingConfig
    public_url: str
    commands: CommandService
    sandbox: bool = False

    def sink_url(self, match: Match) -> str:
        """Where the match's game server sends its log."""
        return log_tokens.address(self.secret, self.public_url, match)


Operators = NamedDependency[OperatorDependencies]  #: as handlers have them


def wrong_match(query: Mapping[str, str]) -> list[Field]:
    """The rule of `MATCH`."""
    wrong = matches.wrong_ref(query["match"], MATCH) if "match" in query else None
    return [wrong] if wrong else []


def audit_fields(request: AuthenticatedRequest, clock: Clock) -> dict[str, Any]:
    """Actor and time, for the audit row of a change."""
    return {"by": request.auth.actor, "now": clock()}


@contextmanager
def invalid_in_body() -> Iterator[None]:
    """Prefix the location of every invalid field with `body`."""
    try:
        yield
    except Invalid as error:
        fields = [msgspec.structs.replace(field, loc=("body", *field.loc)) for field in error.fields]
        raise Invalid(*fields) from error
