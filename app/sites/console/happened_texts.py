"""The rows of what happened, in words."""

from collections.abc import Collection, Mapping

from app.domain.entrants import Player
from app.domain.match import Round, TimelineEvent
from app.domain.suspension_reasons import in_words
from app.sites.console.fact_texts import command_in_words, event_in_words, round_in_words
from app.sites.console.happened import CommandName, Drift, HappenedRow, Results, Suspension
from app.sites.pages.market_names import MarketNames
from app.sites.pages.texts import Texts


def css_of(row: HappenedRow) -> str:
    """The class of the row's element, by what it is about."""
    match row.what:
        case TimelineEvent() as event:
            return f"kill {event.actor_team or ''}" if event.type == "kill" else f"bomb {event.type}"
        case Suspension(explained=explained, until=until):
            return "off" if explained else "stopped over" if until else "stopped"
        case Results(kind=kind):
            return "results" if kind == "settled" else "results changed"
    return type(row.what).__name__.lower()


def words_of(texts: Texts, row: HappenedRow) -> dict[str, str]:
    """What the row's template has beside the row."""
    settled = _results_in_words(texts, row, row.settled) if row.settled else ""
    return {"what": happened_in_words(texts, row), "settled": settled, "css": css_of(row)}


def happened_in_words(texts: Texts, row: HappenedRow) -> str:
    """What the row says."""
    names = row.home, row.away
    match row.what:
        case TimelineEvent() as event:
            return event_in_words(texts, event, *names)
        case Round() as played:
            return round_in_words(texts, played, *names)
        case CommandName(executed, undone):
            said = command_in_words(texts, executed)
            return f"{said} · {texts('happened.undone')}" if undone else said
        case Suspension() as suspension:
            return _suspension_in_words(texts, row, suspension)
        case Results() as results:
            return _results_in_words(texts, row, results)
        case Drift(0):
            return texts("happened.drift")
        case Drift(number):
            return texts("happened.drift_in_round", round=number)
    raise AssertionError(row.what)


def _suspension_in_words(texts: Texts, row: HappenedRow, what: Suspension) -> str:
    reason = in_words(what.reason, texts.locale) or texts("happened.no_reason")
    if what.until is None:
        return texts("happened.suspended", reason=reason)
    return texts("happened.released", seconds=f"{(what.until - row.at) / 1000:.0f}", reason=reason)


def _results_in_words(texts: Texts, row: HappenedRow, what: Results) -> str:
    if what.market is None:
        said, alone = texts(f"happened.results.{what.kind}", count=what.count), False
    else:
        players: Mapping[int | None, Player] = {what.player.account: what.player} if what.player else {}
        market = MarketNames(texts, players).name(what.market, row.home, row.away)
        said, alone = f"{market}: {texts(f'settlements.kinds.{what.kind}')}", True
    if what.kind == "settled":
        said += f": {_counted(texts, what.results, alone=alone)}"
    return said if what is row.settled else f"{said} · {_cause_in_words(texts, row, what)}"


def _counted(texts: Texts, results: Collection[tuple[str, int]], *, alone: bool) -> str:
    words = [(texts(f"settlements.results.{result}"), count) for result, count in results]
    return ", ".join(word if alone else f"{word} {count}" for word, count in words)


def _cause_in_words(texts: Texts, row: HappenedRow, what: Results) -> str:
    match row.cause:
        case Round() as played:
            return texts("happened.by_round", map=played.map, round=played.number)
        case CommandName(executed):
            return command_in_words(texts, executed)
    return what.reason
