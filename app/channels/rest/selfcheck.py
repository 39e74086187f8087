"""The self-check of a client's book: the client posts its open markets and receives the differences."""

from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from app.access.selfcheck import BODY_BYTES, compare
from app.channels.rest.dependencies import RestDependencies
from app.domain import scopes
from app.http.auth import AuthenticatedRequest
from app.wire.views.meta import Single
from app.wire.views.selfcheck import Digest, SelfCheckView

_CHECK = {"sport": "cs2", "scopes": (scopes.MARKETS,), "concurrency_limited": True}


@post("/cs2/v1/selfcheck", status_code=200, opt=_CHECK, request_max_body_size=BODY_BYTES)
async def compare_book(
    request: AuthenticatedRequest, rest: NamedDependency[RestDependencies], data: JSONBody[Digest]
) -> Single[SelfCheckView]:
    """Compare a digest of the client's open markets with what is on offer to it at this moment.

    What the client has open on a match that it may not see is `extra`, and what it has active on one that
    the tenant has unbooked: of that the last message suspended everything. Equal books give count 0.
    """
    grant = request.auth
    return Single(await compare(rest.store, grant.tenant.id, data, finished_only=grant.finished_only))
