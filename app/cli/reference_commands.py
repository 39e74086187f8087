"""Reference data and fixtures from files, and the reports of imports."""

import hashlib
from pathlib import Path
from uuid import UUID

import click
import msgspec

from app.cli.connections import command_store, pricing_config
from app.cli.runtime import FILE, actor, async_command, load_settings, print_json
from app.commands.reference_documents import parse_file
from app.commands.reference_imports import Import, import_parsed
from app.kit.clock import iso_millis, system_clock
from app.kit.control_characters import escape_control_characters
from app.kit.errors import NotFound
from app.store import reference_imports


@click.group("reference")
def reference() -> None:
    """Reference data and fixtures, from which matches are created; docs/reference-data.md describes them."""


@reference.command("import")
@click.argument("file", type=FILE)
@click.option("--source", help="Who provides the fixtures that name no source.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@async_command
async def import_file(file: Path, source: str | None, dry_run: bool) -> None:
    """Import FILE (.json, .jsonl or .csv, plain or .gz), and print the report.

    Rows that are refused are in the report, and leave the others alone; the exit status is 1 then. Repeated
    rows change nothing.
    """
    settings = load_settings()
    with file.open("rb") as opened:
        body = opened.read()
    how = Import(
        actor(),
        system_clock,
        pricing_config(settings),
        file.name,
        hashlib.sha256(body).hexdigest(),
        dry_run,
    )
    parsed = parse_file(file.name, body, source)
    async with command_store(settings) as store:
        report = await import_parsed(store, parsed, how)
    print_json(msgspec.to_builtins(report))
    if report.refused:
        raise click.exceptions.Exit(1)


@reference.command("reports")
@click.argument("report_id", type=click.UUID, required=False)
@click.option("--limit", type=click.IntRange(1, 1000), default=20)
@async_command
async def show_reports(report_id: UUID | None, limit: int) -> None:
    """Print the newest imports, newest first, or all of the one with REPORT_ID."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        if report_id is None:
            for one in await reference_imports.reports(tx, limit=limit):
                what = f"{len(one.fixtures)} matches, {len(one.refused)} refused"
                about = escape_control_characters(f"{one.name or '-'}  {one.by}")
                click.echo(f"{one.id}  {iso_millis(one.at)}  {what}  {about}")
            return
        found = await reference_imports.report(tx, report_id)
    if found is None:
        raise NotFound(f"There is no report {report_id}.")
    print_json(msgspec.to_builtins(found))
