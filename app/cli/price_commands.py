"""`matchfeed price`: the rounds, prices and results of a server's log, without a service."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import BinaryIO

import click
import msgspec

from app.domain.market import MAP_WINNER, MATCH_WINNER, Result, key_of_name, market_name
from app.domain.settlement import LedgerStatus
from app.kit import logging
from app.kit.compressed import decompressed, is_gzip
from app.kit.control_characters import escape_control_characters
from app.kit.errors import Refusal
from app.recompute.log_prices import (
    EVEN_STRENGTH,
    LogPrices,
    MapScore,
    PricedRound,
    PriceRequest,
    price_log,
)
from app.trading.pricing import PricingConfig

_MAX_BYTES = 256 * 1024 * 1024  #: of a log, unpacked; that of a match of five maps has some 5 MB
_ROUND_WINNER = 13
_strength = click.FloatRange(min=1, max=100_000)


@click.command()
@click.argument("log", metavar="FILE", type=click.File("rb"))
@click.option("--format", "form", type=click.Choice(["table", "json", "csv"]), default="table")
@click.option("--home", default="", help="The first team, as the log names it (default: from the log).")
@click.option("--away", default="", help="The second team.")
@click.option("--home-strength", type=_strength, default=EVEN_STRENGTH, show_default=True)
@click.option("--away-strength", type=_strength, default=EVEN_STRENGTH, show_default=True)
@click.option("--best-of", type=click.Choice(["1", "3", "5"]), default="1", show_default=True)
@click.option(
    "--margin", type=click.FloatRange(min=0, max=0.5), default=PricingConfig().margin, show_default=True
)
def price(
    log: BinaryIO,
    form: str,
    home: str,
    away: str,
    home_strength: float,
    away_strength: float,
    best_of: str,
    margin: float,
) -> None:
    """Price a Counter-Strike 2 server's log: its rounds, the prices at each freeze time, and the results.

    It needs no database, no broker and no settings. FILE is a log as a server writes it, also compressed with
    gzip; - reads standard input. Strengths are points of the public ranking (about 800 to 2000).
    """
    logging.use_stderr()
    request = PriceRequest(
        home=home.strip(),
        away=away.strip(),
        home_strength=home_strength,
        away_strength=away_strength,
        best_of=int(best_of),
        pricing=PricingConfig(margin=margin),
    )
    try:
        found = price_log(_bytes_of(log), request)
    except Refusal as error:
        raise click.ClickException(error.detail) from error
    shown = {"table": _table, "json": _json, "csv": _csv}[form](found)
    click.echo(shown, nl=False)


def _bytes_of(log: BinaryIO) -> bytes:
    """The log, unpacked; a file that is too large or damaged is refused."""
    try:
        found = log.read(_MAX_BYTES + 1)
        if is_gzip(found):
            found = decompressed(found, _MAX_BYTES)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"The log cannot be read ({error}): give a whole file.") from error
    if len(found) > _MAX_BYTES:
        what = f"The log has more than {_MAX_BYTES >> 20} MiB: give that of one match."
        raise click.ClickException(what)
    return found


def _csv(found: LogPrices) -> str:
    """A line for each price, then one for each result; columns that do not apply are empty."""
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    rows.writerow(["kind", "map", "round", "home_score", "away_score", "market", "name", *_VALUES])
    for one in found.rounds:
        place = ["price", one.map, one.round, one.home_score, one.away_score]
        for each in one.prices:
            rows.writerow([*place, each.market, each.name, each.odds, each.probability, "", ""])
    for result in found.results:
        values = [result.status, result.result or ""]
        rows.writerow(["result", "", "", "", "", result.market, result.name, "", "", *values])
    return escape_control_characters(lines.getvalue())


def _table(found: LogPrices) -> str:
    return escape_control_characters("\n".join(_lines_of(found)) + "\n")


def _lines_of(found: LogPrices) -> Iterator[str]:
    yield f"{found.home} v {found.away}: {', '.join(map(_score, found.maps)) or 'no map was played'}"
    yield ""
    for map_number, rounds in groupby(found.rounds, key=lambda one: one.map):
        yield from _of_map(map_number, list(rounds))
        yield ""
    yield from _results(found)
    yield ""
    yield "What was assumed:"
    yield from (f"- {sentence}" for sentence in found.assumptions)
    if found.unread_lines:
        count = len(found.unread_lines)
        yield f"- {count} lines look like play and were not understood, as {found.unread_lines[0]!r}."


def _score(one: MapScore) -> str:
    return f"{one.name or 'map'} {one.home_score}:{one.away_score}"


def _of_map(number: int, rounds: Sequence[PricedRound]) -> Iterator[str]:
    """The odds of home and away at the end of each freeze time."""
    yield f"Map {number}, {rounds[0].map_name}: odds of home / away at the end of each freeze time"
    yield f"round  score  home  {'match':^15}  {'map':^15}  {'round':^15}  open  won by"
    for one in rounds:
        odds = {each.market: f"{each.odds:.3f}" for each in one.prices}
        columns = [f"{one.round:>5}  {f'{one.home_score}:{one.away_score}':>5}  {one.home_side or '?':4}"]
        for type_id, place in (
            (MATCH_WINNER, ""),
            (MAP_WINNER, f"map={one.map}|"),
            (_ROUND_WINNER, f"map={one.map}|round={one.round}|"),
        ):
            pair = [odds.get(market_name(type_id, f"{place}team={team}"), "-") for team in ("home", "away")]
            columns.append(f"{pair[0]:>6} / {pair[1]:<6}")
        won = f"{one.winner}, {one.reason}" if one.winner else "-"
        columns += [f"{len(one.prices):>4}", f"{won} ({one.suspended})" if one.suspended else won]
        yield "  ".join(columns)


def _results(found: LogPrices) -> Iterator[str]:
    """How many results, and those of the match and of whole maps."""
    counts = Counter(str(one.result or one.status) for one in found.results)
    said = ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), reverse=True))
    yield f"Results of {len(found.results)} markets: {said or 'none'}; taken back: {found.rollbacks}"
    for one in found.results:
        if one.status is LedgerStatus.SETTLED and one.result == Result.WON and _is_winner(one.market):
            yield f"  won: {one.name}"


def _is_winner(market: str) -> bool:
    key = key_of_name(market)
    return key is not None and key[0] in (MATCH_WINNER, MAP_WINNER)


_VALUES = ("odds", "probability", "status", "result")


def _json(found: LogPrices) -> str:
    text = msgspec.json.format(msgspec.json.Encoder(decimal_format="number").encode(found), indent=2)
    return escape_control_characters(text.decode()) + "\n"
