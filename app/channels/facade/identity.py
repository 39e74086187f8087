"""Who asks, at the address and in the form that existing clients begin with."""

from typing import Any

from litestar import get
from litestar.di import NamedDependency

from app.channels.facade.facade import Facade
from app.http.answer import Answer
from app.http.auth import Caller
from app.http.kept import NOTHING
from app.http.media import Format
from app.wire.envelopes import answers

_OPT = {"any_query": True, "format": Format.XML, "kept": lambda grant, _: grant}


@get("/v1/users/whoami", opt=_OPT)
async def whoami(request: Caller, facade: NamedDependency[Facade]) -> Answer[Any]:
    """What `/v1/whoami` tells, as XML whatever `Accept` says: the virtual host above all."""
    return facade.answer(answers.bookmaker_details(request.auth), NOTHING)


HANDLERS = (whoami,)
