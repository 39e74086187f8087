"""What schemathesis does beside what the documents describe."""

import gc
import os
from itertools import cycle
from typing import Any

import schemathesis

OWN = "OPERATOR_SLUG"  #: the variable that names the tenant of the operator that it calls as
#: Clients' addresses: requests without a valid key are limited by address, and schemathesis makes thousands.
_ADDRESSES = cycle(f"198.51.100.{last}" for last in range(1, 255))
_ACCEPTED = cycle(["application/json", "application/xml", "*/*", "text/xml;q=0.9, application/json;q=0.1"])

# Strategies, validators and cases stay until the end; to traverse them each time was a tenth of the time.
gc.freeze()
gc.set_threshold(100_000, 50, 1000)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Request each format in turn, from one address after another. Aim what would lock the operator out at a
    tenant that does not exist."""
    parameters = case.path_parameters or {}
    if case.method != "GET" and parameters.get("slug") == os.environ.get(OWN, ""):
        case.path_parameters = {**parameters, "slug": "nobody"}
    case.headers["X-Forwarded-For"] = next(_ADDRESSES)
    if "Accept" not in case.headers:
        case.headers["Accept"] = next(_ACCEPTED)
