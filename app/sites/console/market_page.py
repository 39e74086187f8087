"""One market: its price beside what happened in the match, as a table; its chart is in `match_chart`."""

from collections.abc import Iterable, Sequence

import msgspec
from litestar import Response
from litestar.params import FromPath

from app.domain.market import CLOSED, Market, key_of_name
from app.domain.market_changes import MarketChange
from app.domain.match import Match, Round, TimelineEvent
from app.domain.settlement import void_windows
from app.domain.tenant import OperatorRole
from app.http.handlers import get
from app.kit.errors import NotFound
from app.sites.console.command_forms import CommandForm, forms_for
from app.sites.console.commands import undo_offered
from app.sites.console.fact_texts import command_in_words, event_in_words, round_in_words
from app.sites.console.site import Console, market_path, match_path
from app.sites.pages.forms import NEWEST, Before
from app.sites.pages.market_history import CHANGES, kind_of_change
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.texts import Texts
from app.store import history, market_history, markets, matches, operator_commands, settlements
from app.store.operator_commands import ExecutedCommand
from app.store.transaction import Tx

_COMMANDS = 1_000  #: commands of operators that are shown at most, the newest
#: The commands on a market that has a result.
_WITH_RESULT = ("settle_market", "void_market", "roll_back_market", "close_type", "open_type")


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """Something that happened at `at` (Unix ms); `kind`: of the event, `round` for a round's end, `command`
    for one that an operator gave."""

    at: int
    kind: str
    text: str


class Happened(msgspec.Struct, frozen=True):
    """A row of the table: a change of the market, an entry about it in the ledger (with what it does), or a
    fact of the match."""

    at: int
    change: MarketChange | None = None
    kind: str = ""
    fact: Fact | None = None


@get("/matches/{ref:str}/markets/{name:str}", opt={"query": ("before", "done", "undo")})
async def market_page(
    request: SignedInRequest,
    console: Console,
    ref: FromPath[str],
    name: FromPath[str],
    before: Before = NEWEST,
) -> Response[str]:
    """The market, what changed it last, and what happened meanwhile."""
    texts = texts_for(request)
    async with console.store.snapshot() as tx:
        match, market = await market_of(tx, ref, name)
        found = await market_history.newest(tx, None, match.id, market.key, before=before, limit=CHANGES)
        names = await names_of(tx, texts, [market.key])
        entries = await settlements.of_market(tx, match.id, *market.key)
        facts = await _facts(tx, texts, match)
        undo = await undo_offered(tx, request, match)
    return page(
        request,
        "market.html",
        match=match,
        market=market,
        name=names.name(market.key, match.home, match.away),
        path=match_path(match.number),
        own_path=market_path(match.number, market.key),
        undo=undo,
        forms=_forms(request.auth.user.operator_role, market),
        windows=sorted(void_windows(entries, market.key)),
        rows=_merged(found.changes, facts, newest=before == NEWEST),
        older=found.older,
    )


async def _facts(tx: Tx, texts: Texts, match: Match) -> list[Fact]:
    """What happened in the match, and what operators commanded."""
    rounds, events = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
    commands = await operator_commands.listing(tx, match.id, limit=_COMMANDS)
    return facts_in_words(texts, match, rounds, events, commands)


def _forms(role: OperatorRole | None, market: Market) -> tuple[CommandForm, ...]:
    """What operators of that role may do with the market as it is: one with a result is not on offer, and one
    that has none, and is not held, has nothing to be rolled back."""
    given = forms_for(role, "market")
    if market.status in CLOSED:
        return tuple(form for form in given if form.tag in _WITH_RESULT)
    return tuple(form for form in given if form.tag != "roll_back_market" or market.held)


async def market_of(tx: Tx, ref: str, name: str) -> tuple[Match, Market]:
    """The match, and its market with that name. Raises `NotFound`."""
    match = await matches.by_ref(tx, ref)
    key = key_of_name(name)
    market = await markets.get(tx, match.id, key) if key else None
    if market is None:
        raise NotFound(f"There is no market {name[:100]!r} on this match.")
    return match, market


def _merged(changes: Sequence[MarketChange], facts: list[Fact], *, newest: bool) -> list[Happened]:
    """The changes and what happened between the first and the last of them, newest first; facts after the
    last one belong to the newest page."""
    if not changes:
        return []
    first, last = changes[-1].at, changes[0].at
    rows = [Happened(each.at, change=each, kind=kind_of_change(each)) for each in changes]
    rows += [
        Happened(fact.at, fact=fact) for fact in facts if first <= fact.at and (newest or fact.at <= last)
    ]
    return sorted(rows, key=lambda row: row.at, reverse=True)


def facts_in_words(
    texts: Texts,
    match: Match,
    rounds: Iterable[Round],
    events: Iterable[TimelineEvent],
    commands: Iterable[ExecutedCommand],
) -> list[Fact]:
    """Every event and every round's end that counts, and every command, oldest first."""
    names = match.home, match.away
    happened = [
        Fact(each.at, each.type, event_in_words(texts, each, *names)) for each in events if not each.void
    ]
    ended = [
        Fact(each.ended_at, "round", round_in_words(texts, each, *names)) for each in rounds if not each.void
    ]
    given = [Fact(each.at, "command", command_in_words(texts, each)) for each in commands]
    return sorted([*happened, *ended, *given], key=lambda fact: fact.at)
