from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from litestar import Litestar, get
from litestar.params import QueryParameter

from app.http.query import refuse_misread, refuse_unknown
from app.kit.errors import Invalid


def test_known_parameters_pass() -> None:
    refuse_unknown(b"limit=1&limit=2&status=", ("limit", "status"))


def test_every_unknown_parameter_is_named() -> None:
    with pytest.raises(Invalid) as refused:
        refuse_unknown(b"limit=1&Limit=2&x%79=%ff", ("limit",))
    assert [field.loc for field in refused.value.fields] == [("query", "Limit"), ("query", "xy")]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (b"status=null", ["status"]),
        (b"limit=NULL&q=null&from=null", ["limit", "from"]),
        (b"to=0.5", ["to"]),
        (b"limit=1e2&start=1.0&q=1e2", ["limit", "start"]),
    ],
)
async def test_what_the_framework_would_misread_is_refused(query: bytes, named: list[str]) -> None:
    @get("/", opt={"query": ("status", "limit", "start", "from", "to", "q")})
    async def handler(
        status: Annotated[Literal["on"] | None, QueryParameter()] = None,
        limit: Annotated[int | None, QueryParameter()] = None,
        start: Annotated[int, QueryParameter()] = 0,
        since: Annotated[date | None, QueryParameter(name="from")] = None,
        to: Annotated[datetime | None, QueryParameter()] = None,
        q: Annotated[str | None, QueryParameter()] = None,
    ) -> None: ...

    scope: Any = {"query_string": query, "route_handler": _routed(handler)}
    with pytest.raises(Invalid) as refused:
        refuse_misread(scope)
    assert [field.loc for field in refused.value.fields] == [("query", name) for name in named]
    good = b"q=null&status=on&unknown=null&limit=5&start=-1&to=2031-04-02T18:00:00Z"
    refuse_misread(scope | {"query_string": good})


def _routed(handler: Any) -> Any:
    (route,) = [route for route in Litestar([handler], openapi_config=None).routes if route.path == "/"]
    return route.route_handler_map["GET"][0]
