"""What schemathesis does beside what the documents describe."""

import os
from itertools import cycle
from typing import Any

import schemathesis

OWN = "OPERATOR_SLUG"  #: the variable that names the tenant of the operator that it calls as
_ACCEPTED = cycle(["application/json", "application/xml", "*/*", "text/xml;q=0.9, application/json;q=0.1"])

_ADDRESSES = cycle(f"198.51.100.{number}" for number in range(1, 255))


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Request each format in turn, from one of several addresses: those without a valid key are limited by
    address. Aim what would lock the operator out at a tenant that does not exist."""
    parameters = case.path_parameters or {}
    if case.method != "GET" and parameters.get("slug") == os.environ.get(OWN, ""):
        case.path_parameters = {**parameters, "slug": "nobody"}
    case.headers["X-Forwarded-For"] = next(_ADDRESSES)
    if "Accept" not in case.headers:
        case.headers["Accept"] = next(_ACCEPTED)
