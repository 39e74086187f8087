"""The decorator of routes that read: GET, and HEAD, which does the same work and sends the same headers."""

from functools import partial

from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler

#: Used as the framework's own `get`. A response to HEAD loses its body in `http.headers`.
get = partial(HTTPRouteHandler, http_method=(HttpMethod.GET, HttpMethod.HEAD))
