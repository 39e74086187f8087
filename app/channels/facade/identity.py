"""The identity of the key, at the path and in the form that existing clients request first."""

from typing import Any

from litestar.di import NamedDependency

from app.channels.facade.dependencies import FacadeDependencies
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.representation import Format
from app.http.response import NOTHING, RenderedResponse
from app.wire.xml import responses

_OPT = {"any_query": True, "format": Format.XML, "cached_per": lambda grant, _: grant}


@get("/v1/users/whoami", opt=_OPT)
async def get_facade_whoami(
    request: AuthenticatedRequest, facade: NamedDependency[FacadeDependencies]
) -> RenderedResponse[Any]:
    """The content of `/v1/whoami`, always as XML; with the virtual host to connect to."""
    return facade.respond(responses.bookmaker_details(request.auth), NOTHING)
