"""What clients read once: sports, producers, market types, match statuses, void reasons.

None of it changes while the process lives.
"""

from typing import Any

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.channels.facade import asked
from app.channels.facade.facade import Facade, missing
from app.domain import catalogue
from app.http.answer import Answer
from app.http.kept import NOTHING
from app.wire.envelopes import dictionaries

_ANY_KEY = asked.kept(seen=asked.nothing)


@get("/v1/sports/{locale:str}/sports", opt=_ANY_KEY)
async def sports(facade: NamedDependency[Facade], locale: FromPath[str]) -> Answer[Any]:
    """The categories: Counter-Strike 2. Its name is the same in every language."""
    asked.locale(locale)
    return facade.answer(dictionaries.sports(facade.icon_url), NOTHING)


@get("/v1/descriptions/producers", opt=_ANY_KEY)
async def producers(facade: NamedDependency[Facade]) -> Answer[Any]:
    """The streams of the feed, each with the window of its recoveries."""
    return facade.answer(dictionaries.producers([facade.producer]), NOTHING)


@get("/v1/descriptions/{locale:str}/markets", opt=_ANY_KEY)
async def markets(facade: NamedDependency[Facade], locale: FromPath[str]) -> Answer[Any]:
    """The market catalogue: every type that the feed may offer."""
    language = asked.locale(locale)
    return facade.answer(dictionaries.market_descriptions(catalogue.load().markets, language), NOTHING)


@get("/v1/descriptions/{locale:str}/markets/{market_id:str}/variants/{variant:str}", opt=_ANY_KEY)
async def variant(
    facade: NamedDependency[Facade], locale: FromPath[str], market_id: FromPath[str], variant: FromPath[str]
) -> Answer[Any]:
    """A market type as that variant of it: no type's outcomes vary, so they are the declared ones."""
    language, number = asked.locale(locale), asked.number(market_id, "market")
    found = catalogue.load().by_id.get(number or 0)
    if found is None:
        return missing("market_descriptions")
    return facade.answer(dictionaries.market_descriptions([found], language, variant), NOTHING)


@get("/v1/descriptions/{locale:str}/match_status", opt=_ANY_KEY)
async def statuses(facade: NamedDependency[Facade], locale: FromPath[str]) -> Answer[Any]:
    """The match status dictionary: the codes that the feed sends."""
    language = asked.locale(locale)
    known = catalogue.load().statuses
    return facade.answer(dictionaries.match_status_descriptions(known, language), NOTHING)


@get("/v1/descriptions/{locale:str}/void_reasons", opt=_ANY_KEY)
async def void_reasons(facade: NamedDependency[Facade], locale: FromPath[str]) -> Answer[Any]:
    """The reasons why markets are void."""
    language = asked.locale(locale)
    known = catalogue.load().void_reasons
    return facade.answer(dictionaries.void_reasons_descriptions(known, language), NOTHING)


@get("/v1/descriptions/void_reasons", opt=_ANY_KEY)
async def unlocalised_void_reasons(facade: NamedDependency[Facade]) -> Answer[Any]:
    """The same in English, for clients that name no language and look for the root `void_reasons`."""
    return facade.answer(dictionaries.void_reasons(catalogue.load().void_reasons), NOTHING)


HANDLERS = (sports, producers, markets, variant, statuses, void_reasons, unlocalised_void_reasons)
