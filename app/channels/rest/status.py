"""The status of the service, for anybody: /v1/status and /v1/status/days. No key is needed, so that a client
can read it that wonders whether its key still works."""

from typing import Any

from litestar.di import NamedDependency

from app.http.handlers import get
from app.http.representation import Format, ResponseBody
from app.http.response import RenderedResponse
from app.status.publication import CACHING, JsonText, StatusTexts
from app.wire.views.meta import Many, Single
from app.wire.views.status import DayView, StatusView

_OPEN: dict[str, Any] = {"open": True}


@get("/v1/status", opt=_OPEN)
async def get_status(status_texts: NamedDependency[StatusTexts]) -> RenderedResponse[Single[StatusView]]:
    """The state of each part of the service, incidents, announced maintenance, and what was measured each day
    beside what is promised. Needs no key; a second old at most."""
    return _response(status_texts.status())


@get("/v1/status/days", opt=_OPEN)
async def list_status_days(status_texts: NamedDependency[StatusTexts]) -> RenderedResponse[Many[DayView]]:
    """The figures of today and of every day of the last year, newest first. Needs no key; a minute old at
    most."""
    return _response(status_texts.days())


def _response(text: JsonText) -> RenderedResponse[Any]:
    return RenderedResponse(ResponseBody(text.body, Format.JSON, text.tag, CACHING))
