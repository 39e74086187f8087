"""Daily files: make, list, prune."""

import os
from collections import Counter
from datetime import datetime
from pathlib import Path

import click

from app.cli.connections import command_store
from app.cli.runtime import async_command, load_settings, print_list
from app.domain.daily_files import last_complete_day
from app.files import making
from app.files.directory import DayManifest, FileDirectory
from app.files.making import MadeDay
from app.kit import logging
from app.kit.clock import system_clock
from app.settings import Settings

#: Other processes of the machine come first: what they do is waited for.
_NICE = 10


@click.group()
def files() -> None:
    """Daily files of prices, settlements, rounds and timeline, in FILES_DIRECTORY (docs/files.md)."""


@files.command("make")
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="Only this day (UTC).")
@click.option("--json-log", is_flag=True, help="Log JSON lines, as the service's processes do.")
@async_command
async def files_make(day: datetime | None, json_log: bool) -> None:
    """Make the files of the last complete day, and of those since the newest one that has files, and delete
    those that are older than FILES_DAYS. Files that are there stay as they are: run again after a failure, or
    for a new tenant, it makes the rest."""
    settings = load_settings()
    if json_log:
        logging.configure("files", level=settings.log_level)
    directory = _directory(settings)
    os.nice(_NICE)
    async with command_store(settings) as store:
        if day is None:
            found = await making.make_missing(store, directory, settings.files_days, system_clock)
        else:
            found = [await making.make_day(store, directory, day.date(), system_clock)]
    for each in found:
        click.echo(_made(each))


@files.command("list")
def files_list() -> None:
    """The days that have files: how many of each kind, for different rights and in different formats, and
    their bytes."""
    directory = _directory(load_settings())
    found = [manifest for day in directory.days() if (manifest := directory.manifest(day))]
    print_list(list(map(_summary, found)), "no files: make some (matchfeed files make)")


@files.command("prune")
@click.option("--before", type=click.DateTime(["%Y-%m-%d"]), help="Days before this one.")
@async_command
async def files_prune(before: datetime | None) -> None:
    """Delete the files of days that are older than FILES_DAYS, or that are before a day."""
    settings = load_settings()
    directory = _directory(settings)
    oldest = making.oldest_day(last_complete_day(system_clock()), settings.files_days)
    limit = before.date() if before else oldest
    with directory.lock():
        for day in directory.prune(limit):
            click.echo(f"{day}: deleted")


def _directory(settings: Settings) -> FileDirectory:
    if not settings.files_directory:
        raise click.ClickException("set FILES_DIRECTORY to the directory of daily files")
    return FileDirectory(Path(settings.files_directory))


def _made(found: MadeDay) -> str:
    incomplete = sum(not one.complete for one in found.made)
    lacking = f"; in {incomplete} of them changes are missing, which were not kept" if incomplete else ""
    return f"{found.day}: {len(found.made)} files made, {found.files} there{lacking}"


def _summary(manifest: DayManifest) -> str:
    kinds = Counter(one.kind for one in manifest.files)
    counted = ", ".join(f"{kind} {number}" for kind, number in kinds.items()) or "no files"
    return f"{manifest.day}: {counted}; {sum(one.size for one in manifest.files)} bytes"
