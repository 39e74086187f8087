"""The decorator of routes that read: GET, and HEAD, which does the same work and sends the same headers; and
the routes of modules.
"""

from functools import partial
from types import ModuleType

from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler

#: Used as the framework's own `get`. A response to HEAD loses its body in `http.headers`.
get = partial(HTTPRouteHandler, http_method=(HttpMethod.GET, HttpMethod.HEAD))


def handlers_in(*modules: ModuleType) -> tuple[HTTPRouteHandler, ...]:
    """The route handlers that these modules define, in order."""
    found = (each for module in modules for each in vars(module).values())
    return tuple(each for each in found if isinstance(each, HTTPRouteHandler))
