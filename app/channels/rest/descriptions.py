"""The market catalogue, under /cs2/v1/markets/descriptions."""

from typing import Annotated, Any

from litestar import get
from litestar.params import QueryParameter

from app.domain import catalogue
from app.domain.catalogue import Locale
from app.domain.tenant import Grant
from app.http import answer, media
from app.http.answer import Answer
from app.http.auth import Caller
from app.http.door import siblings
from app.http.kept import NOTHING
from app.http.media import Format
from app.wire.envelopes import dictionaries
from app.wire.views.descriptions import DescriptionView, description_views
from app.wire.views.meta import ListMeta, Many


def _same(grant: Grant, form: Format) -> None:
    """Everybody is told the same."""


_OPT: dict[str, Any] = {"sport": "cs2", "query": ("locale",), "sibling": True, "kept": _same}


@get(siblings("/cs2/v1/markets/descriptions"), opt=_OPT)
async def descriptions(
    request: Caller,
    locale: Annotated[Locale, QueryParameter(description="The language of names: en or ru.")] = "en",
) -> Answer[Many[DescriptionView]]:
    """Every market type that is ever offered."""
    types = catalogue.load().markets
    if media.of(request.scope) is Format.XML:
        return answer.as_xml(dictionaries.market_descriptions(types, locale), about=NOTHING)
    return answer.as_json(Many(description_views(types, locale), ListMeta(len(types))), about=NOTHING)


HANDLERS = (descriptions,)
