"""Reference data from files."""

import gzip
from pathlib import Path

import click

from app.cli.runtime import actor, async_command, command_store, load_settings
from app.ingest.reference import importing, openfootball, profiles
from app.ingest.reference.rows import Row
from app.kit.clock import system_clock
from app.kit.errors import Field, Invalid

_FILES = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("import")
def imports() -> None:
    """Import reference data from files; docs/imports.md describes the formats."""


@imports.command("soccer")
@click.argument("files", nargs=-1, required=True, type=_FILES)
@async_command
async def import_soccer(files: tuple[Path, ...]) -> None:
    """Import soccer competitors and tournaments from FILES: openfootball's seasons (.json) and profiles
    (.jsonl), plain or .gz."""
    rows = [row for file in files for row in _soccer(file)]
    await _import(rows)


@imports.command("cs2")
@click.argument("files", nargs=-1, required=True, type=_FILES)
@async_command
async def import_cs2(files: tuple[Path, ...]) -> None:
    """Import categories, tournaments, teams and players from FILES (.jsonl), plain or .gz."""
    rows = [row for file in files for row in profiles.read(file.name, _body(file), profiles.CS2)]
    await _import(rows)


def _soccer(file: Path) -> list[Row]:
    if ".jsonl" in file.suffixes:
        return profiles.read(file.name, _body(file), profiles.SOCCER)
    return openfootball.read(file.name, _body(file))


def _body(file: Path) -> bytes:
    body = file.read_bytes()
    try:
        return gzip.decompress(body) if file.suffix == ".gz" else body
    except OSError as error:
        raise Invalid(Field((file.name,), f"This is not what its name says: {error}", "file")) from error


async def _import(rows: list[Row]) -> None:
    async with command_store(load_settings()) as store, store.transaction() as tx:
        counts = await importing.import_rows(tx, rows, by=actor(), now=system_clock())
    for kind, count in counts.items():
        click.echo(f"{kind}: {count}")
