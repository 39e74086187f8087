import gc
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal
from weakref import ref

import pytest
from litestar import Litestar, Response, get
from litestar.params import QueryParameter

from app.http.request_data import misread, pairs_of, unfit_fields, unknown, wrong_fields
from app.kit.errors import Field


def scope_of(query: bytes, handler: Any = None) -> Any:
    return {"query_string": query, "route_handler": handler}


def test_known_parameters_pass() -> None:
    assert unknown(pairs_of(scope_of(b"limit=1&limit=2&status=")), ("limit", "status")) == []


def test_every_unknown_parameter_is_named() -> None:
    fields = unknown(pairs_of(scope_of(b"limit=1&Limit=2&x%79=%ff")), ("limit",))
    assert [field.loc for field in fields] == [("query", "Limit"), ("query", "xy")]


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

    routed = _routed(handler)
    fields = misread(routed, pairs_of(scope_of(query)))
    assert [field.loc for field in fields] == [("query", name) for name in named]
    good = b"q=null&status=on&unknown=null&limit=5&start=-1&to=2031-04-02T18:00:00Z"
    assert misread(routed, pairs_of(scope_of(good))) == []


def _rule(query: Mapping[str, str]) -> list[Field]:
    return [Field(("query", "day"), "No such day.", "date", query["day"])] if query["day"] == "x" else []


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (b"need=1&day=y", []),
        (b"need=1&day=y&limit=0", []),  # the framework sees it
        (b"need=1&day=x", ["day"]),
        (b"need=1&day=x&limit=0", ["limit", "day"]),
        (b"nonsense=&need=1&day=y", ["nonsense"]),
        (b"nonsense=&day=x&limit=0", ["nonsense", "need", "limit", "day"]),
        (b"nonsense=&need=x&day=y&limit=1e2", ["limit", "nonsense", "need"]),
        (b"need=%00&day=y&limit=9&limit=0", ["need", "limit"]),
        (b"need=1&day=%00&limit=0&limit=9", ["day"]),
        (b"need=1&day=y&%00=&nonsense=%00", ["", "nonsense"]),
    ],
)
async def test_everything_that_is_wrong_is_named_once(query: bytes, named: list[str]) -> None:
    @get("/", opt={"query": ("need", "limit", "day"), "query_rule": _rule})
    async def handler(
        need: Annotated[int, QueryParameter()],
        limit: Annotated[int, QueryParameter(ge=1)] = 5,
        day: Annotated[str, QueryParameter()] = "",
    ) -> None: ...

    fields = wrong_fields(scope_of(query, _routed(handler)))
    assert [field.loc for field in fields] == [("query", name) for name in named]


async def test_what_is_absent_hides_nothing() -> None:
    @get("/", opt={"query": ("need", "limit", "day")})
    async def handler(
        need: Annotated[int, QueryParameter()],
        day: Annotated[date, QueryParameter()],
        limit: Annotated[int, QueryParameter(ge=1)] = 5,
    ) -> None: ...

    fields = unfit_fields(scope_of(b"limit=0&day=x", _routed(handler)))
    assert {field.loc[1]: (field.msg, field.input) for field in fields} == {
        "need": ("This is required.", None),
        "day": ("Invalid RFC3339 encoded date", "x"),
        "limit": ("Expected `int` >= 1", "0"),
    }


def test_what_is_known_of_a_function_keeps_no_application_alive() -> None:
    @get("/", opt={"query": ("need",)})
    async def handler(need: Annotated[int, QueryParameter()]) -> None: ...

    class OfTheApplication(Response[None]): ...

    function, routed = handler.fn, _routed(handler, response_class=OfTheApplication)
    assert [field.loc[1] for field in wrong_fields(scope_of(b"need=1e2&x=", routed))] == ["need", "x"]
    part = ref(OfTheApplication)
    del handler, routed, OfTheApplication
    gc.collect()
    assert function is not None and part() is None


def _routed(handler: Any, **application: Any) -> Any:
    (route,) = [
        route for route in Litestar([handler], openapi_config=None, **application).routes if route.path == "/"
    ]
    return route.route_handler_map["GET"][0]
