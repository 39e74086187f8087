"""Reference data from files, teams' ratings, and reference prices of matches."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from app.cli.connections import command_store, pricing_config
from app.cli.runtime import FILE, actor, async_command, load_settings
from app.commands import entrant_import, match_references, rating_import, reference_import
from app.commands.entrant_import import CS2_KINDS, SOCCER_KINDS, Row, read_lines, read_profiles, season_rows
from app.commands.rating_import import Imported, ImportedResult, ImportedStrength, Location
from app.commands.reference_import import ImportedPrice
from app.commands.soccer_season import SeasonFile, read_season_file
from app.kit.clock import iso_millis, system_clock
from app.kit.compressed import decompressed
from app.kit.csv_rows import csv_rows
from app.kit.errors import Field, Invalid
from app.store import ratings as stored_ratings

_MAX_BYTES = 256 * 1024 * 1024  #: of what is compressed in a file
_FIRST_LINE = 2  #: of a CSV file's rows: its header is the first
_KINDS: dict[str, type[Imported]] = {"result": ImportedResult, "strength": ImportedStrength}


@click.group("ratings")
def ratings() -> None:
    """Ratings of teams, from the results of maps in order of time."""


@ratings.command("import")
@click.argument("file", type=FILE)
@async_command
async def import_file(file: Path) -> None:
    """Import results and strengths from FILE (.jsonl); docs/imports.md describes the format.

    Rows that are known already change nothing; those with a known id and other fields correct it.
    """
    rows = _read(file)
    async with command_store(load_settings()) as store, store.transaction() as tx:
        counts = await rating_import.import_ratings(tx, rows, by=actor(), now=system_clock())
    for name, count in msgspec.to_builtins(counts).items():
        click.echo(f"{name}: {count}")


@click.group("references")
def references() -> None:
    """Reference prices of matches: what bookmakers and exchanges offer."""


@references.command("import")
@click.argument("file", type=FILE)
@async_command
async def import_prices(file: Path) -> None:
    """Import reference prices from FILE (.csv or .jsonl); docs/imports.md describes the format.

    Prices that are known already change nothing.
    """
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store:
        async with store.transaction() as tx:
            found = await reference_import.import_references(tx, _prices(file), by=actor(), now=now)
        await match_references.refresh(store, found.match_ids, now, pricing_config(settings))
    for name, count in msgspec.to_builtins(found.counts).items():
        click.echo(f"{name}: {count}")


def _prices(file: Path) -> list[tuple[Location, ImportedPrice]]:
    body = file.read_bytes()
    if file.suffix == ".csv":
        rows = csv_rows(body, ImportedPrice, (file.name,), first=_FIRST_LINE)
        return [((file.name, number), row) for number, row in enumerate(rows, _FIRST_LINE)]
    decode = msgspec.json.Decoder(ImportedPrice).decode
    return read_lines(file.name, body, lambda place, line: (place, decode(line)))


@ratings.command("compute")
@async_command
async def compute() -> None:
    """Compute all ratings anew, from the results and strengths that are stored.

    After an upgrade that has changed how ratings follow from results. Matches before play follow within
    seconds.
    """
    async with command_store(load_settings()) as store, store.transaction() as tx:
        teams = await rating_import.compute_anew(tx, by=actor(), now=system_clock())
    click.echo(f"teams: {teams}")


@ratings.command("list")
@click.option("--limit", type=click.IntRange(1, 1000), default=100)
@async_command
async def list_ratings(limit: int) -> None:
    """Print the rated teams, strongest first."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = await stored_ratings.listing(tx, limit=limit)
    for one in found:
        rating = one.rating
        click.echo(
            f"{rating.points:7.0f} ±{rating.spread:4.0f}  {rating.maps:4} maps  "
            f"{iso_millis(rating.at)}  {one.name}"
        )


def _read(file: Path) -> list[tuple[Location, Imported]]:
    return read_lines(file.name, file.read_bytes(), lambda place, line: (place, _row(line)))


def _row(line: bytes) -> Imported:
    fields = msgspec.json.decode(line, type=dict[str, object])
    kind = fields.pop("kind", None)
    if kind not in _KINDS:
        raise msgspec.ValidationError(f"`kind` is one of {', '.join(_KINDS)}, not {kind!r}")
    return msgspec.convert(fields, _KINDS[str(kind)])


@click.group("import")
def imports() -> None:
    """Import reference data from files; docs/imports.md describes the formats."""


@imports.command("soccer")
@click.argument("files", nargs=-1, required=True, type=FILE)
@async_command
async def import_soccer(files: tuple[Path, ...]) -> None:
    """Import soccer competitors, tournaments and matches from FILES: openfootball's seasons (.json) and
    profiles (.jsonl), plain or .gz."""
    rows: list[Row] = []
    seasons: list[SeasonFile] = []
    for file in files:
        if ".jsonl" in file.suffixes:
            rows += read_profiles(file.name, _body(file), SOCCER_KINDS)
        else:
            seasons.append(read_season_file(file.name, _body(file)))
            rows += season_rows(file.name, seasons[-1])
    await _import(rows, seasons)


@imports.command("cs2")
@click.argument("files", nargs=-1, required=True, type=FILE)
@async_command
async def import_cs2(files: tuple[Path, ...]) -> None:
    """Import categories, tournaments, teams and players from FILES (.jsonl), plain or .gz."""
    rows = [row for file in files for row in read_profiles(file.name, _body(file), CS2_KINDS)]
    await _import(rows)


def _body(file: Path) -> bytes:
    body = file.read_bytes()
    try:
        return decompressed(body, _MAX_BYTES) if file.suffix == ".gz" else body
    except ValueError as error:
        what = f"This is not what its name says, or too large: {error}."
        raise Invalid(Field((file.name,), what, "file")) from error


async def _import(rows: list[Row], seasons: Sequence[SeasonFile] = ()) -> None:
    async with command_store(load_settings()) as store, store.transaction() as tx:
        counts = await entrant_import.import_rows(tx, rows, seasons, by=actor(), now=system_clock())
    for kind, count in counts.items():
        click.echo(f"{kind}: {count}")
