"""How HTTP handlers are declared and collected.

The `opt` of a handler declares what its route requires and allows; `http` lists the keys.
"""

from functools import partial
from importlib import import_module
from pkgutil import walk_packages

from litestar.enums import HttpMethod
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

#: The decorator of routes that read: used as the framework's own `get`. HEAD does the same work and sends the
#: same headers; its response loses the body in `http.headers`.
get = partial(HTTPRouteHandler, http_method=(HttpMethod.GET, HttpMethod.HEAD))
XML_SUFFIX = ".xml"  #: the suffix of the path that always answers XML, where a route has one


def siblings(path: str) -> list[str]:
    """A path and its `.xml` sibling, for routes with `sibling` in their `opt`."""
    return [path, path + XML_SUFFIX]


def handlers_in(package: str) -> tuple[BaseRouteHandler, ...]:
    """The handlers that the modules of a package define, those of packages in it too."""
    return tuple(
        handler
        for module in walk_packages(import_module(package).__path__, f"{package}.")
        for handler in vars(import_module(module.name)).values()
        if isinstance(handler, BaseRouteHandler) and handler.fn.__module__ == module.name
    )
