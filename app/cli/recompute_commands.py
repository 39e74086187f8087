"""`matchfeed recompute`: every price and result of a match computed again from its file, without a service;
and the commands that write that file, and the coefficients of a match.
"""

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from app.cli.connections import command_store
from app.cli.runtime import FILE, async_command, load_settings, print_line
from app.commands.match_export import MatchExport, NoExport, export_match, read_export
from app.kit import logging
from app.kit.clock import iso_millis, system_clock
from app.kit.version import VERSION
from app.recompute.recomputation import Difference, MissingInputs, OtherVersion, Recomputed, recompute
from app.store import match_inputs
from app.trading import coefficients
from app.trading.coefficients import OtherCoefficients

DIFFERENT, OTHER_VERSION, INCOMPLETE = 1, 3, 4  #: exit codes
_file = click.Path(dir_okay=False, path_type=Path)


@click.command("export")
@click.argument("ref", metavar="MATCH")
@click.option("--to", "target", type=_file, help="Default: match-NUMBER.json.gz")
@async_command
async def match_export(ref: str, target: Path | None) -> None:
    """Write all that the prices and results of MATCH were computed from, and what was published, to one file
    for `matchfeed recompute`."""
    async with command_store(load_settings()) as store:
        body = await export_match(store, ref, system_clock())
    export = read_export(body)
    target = target or Path(f"match-{export.number}.json.gz")
    target.write_bytes(body)
    click.echo(f"{target}: {len(export.inputs)} transactions, {len(export.rows)} changes")
    if not export.whole:
        click.echo("its older changes are deleted (KEPT_CHANGES_DAYS): they cannot be compared", err=True)


@click.command("coefficients")
@click.argument("sha256", metavar="[HASH]", default="")
@click.option("--to", "target", type=_file, help="Default: coefficients-HASH.json")
@async_command
async def write_coefficients(sha256: str, target: Path | None) -> None:
    """Write the version of the coefficients with this HASH, by which matches of this service were priced;
    without it list the versions."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        if not sha256:
            for one in await match_inputs.coefficients_versions(tx):
                installed = " (installed)" if one.sha256 == coefficients.version() else ""
                click.echo(f"{one.sha256}  since {iso_millis(one.at)}{installed}")
            return
        body = await match_inputs.coefficients_body(tx, sha256)
    if body is None:
        raise click.ClickException(f"No match was priced by {sha256}: `matchfeed coefficients` lists all.")
    target = target or Path(f"coefficients-{sha256[:12]}.json")
    target.write_bytes(body)
    click.echo(str(target))


@click.command("recompute")
@click.argument("file", type=FILE)
@click.option(
    "--coefficients",
    "numbers",
    type=FILE,
    help="Price by this version (`matchfeed coefficients HASH`), not by the installed one.",
)
def recompute_match(file: Path, numbers: Path | None) -> None:
    """Compute every price and result of a match again from FILE (`matchfeed match export`), and compare each
    with what was published. It needs no database, no broker and no settings.

    Exit codes: 0 all equal; 1 something differs, the first difference is shown; 3 the match was priced by
    other coefficients; 4 not all that it was computed from is there.
    """
    logging.use_stderr()
    try:
        if numbers is not None:
            coefficients.use(numbers.read_bytes())
        export = read_export(file.read_bytes())
    except (NoExport, OtherCoefficients) as error:
        raise click.ClickException(str(error)) from error
    found = recompute(export)
    code, lines = _report(export, found)
    print_line("\n".join(lines))
    sys.exit(code)


def _report(export: MatchExport, found: Recomputed) -> tuple[int, list[str]]:
    lines = [
        f"od:match:{export.number}: {found.transactions} of {len(export.inputs)} transactions computed,"
        f" {found.prices} prices and {found.entries} results equal"
    ]
    if found.given:
        lines.append(
            f"taken from the file and not computed: the state after {found.given} of them (a silent source,"
            " lost lines, ratings or reference prices)"
        )
    others = [version for version in found.versions if version != VERSION]
    if others:
        lines.append(f"it was priced by version {', '.join(others)} of the program; this is {VERSION}")
    match found.problem:
        case None:
            return 0, [*lines, "everything that was published is computed again, bit for bit"]
        case Difference() as problem:
            return DIFFERENT, [*lines, *_difference(problem)]
        case OtherVersion(needed, installed):
            return OTHER_VERSION, [*lines, *_other_version(needed, installed)]
        case MissingInputs(after, until, why):
            return INCOMPLETE, [
                *lines,
                f"what led to the changes after {after} up to {until} is missing.",
                why,
            ]


def _other_version(needed: tuple[str, ...], installed: str) -> list[str]:
    if len(needed) > 1:
        what = "the match was priced by several versions of the coefficients; only one can be computed"
        return [what, *(f"  {one}" for one in needed), f"installed: {installed}"]
    return [
        f"the match was priced by the coefficients {needed[0]}",
        f"installed are                             {installed}",
        f"get them with `matchfeed coefficients {needed[0]}`, and give the file as --coefficients",
    ]


def _difference(problem: Difference) -> list[str]:
    place = f"change {problem.seq}" if problem.seq is not None else "nothing published"
    return [
        f"different: {problem.about} ({place}, {iso_millis(problem.at)})",
        *_values(problem.published, problem.computed),
        "it was led to by:",
        *(f"  {line}" for line in problem.led_by.splitlines()),
    ]


def _values(published: Any, computed: Any) -> list[str]:
    """Both values; of two objects the fields that differ."""
    if isinstance(published, dict) and isinstance(computed, dict):
        names = [name for name in published | computed if published.get(name) != computed.get(name)]
        published, computed = ({name: one.get(name) for name in names} for one in (published, computed))
    return [f"  {name}: {_text(one)}" for name, one in (("published", published), ("computed", computed))]


def _text(value: Any) -> str:
    return "nothing" if value is None else msgspec.json.encode(value).decode()
