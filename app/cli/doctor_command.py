"""The examination of an installation."""

import json

import click
import msgspec

from app.cli.runtime import async_command, load_settings
from app.kit import logging
from app.kit.control_characters import escape_control_characters
from app.operations.doctor.examination import DoctorConfig, examine
from app.operations.doctor.findings import Finding, State, ill

_MARKS = {State.WELL: "well   ", State.ILL: "ILL    ", State.UNKNOWN: "unknown"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Findings as a JSON list.")
@click.option("--all", "everything", is_flag=True, help="What is well, too.")
@async_command
async def doctor(as_json: bool, everything: bool) -> None:
    """Say what is ill, and what to do: settings, servers, processes, tenants, certificate.

    Changes nothing and prints no secret. Exits with 1 if something is ill; what cannot be determined from
    here is listed as unknown.
    """
    found = await _findings()
    if as_json:
        click.echo(escape_control_characters(json.dumps(msgspec.to_builtins(found), indent=2)))
    else:
        for each in found:
            if everything or each.state is not State.WELL:
                click.echo(escape_control_characters(_line(each)))
        counts = {state: sum(each.state is state for each in found) for state in State}
        click.echo(", ".join(f"{count} {state}" for state, count in counts.items()))
    if any(each.state is State.ILL for each in found):
        raise click.exceptions.Exit(1)


async def _findings() -> list[Finding]:
    try:
        settings = load_settings()
    except SystemExit as error:
        return [ill("settings", str(error).removeprefix("matchfeed: "), "Correct the environment.")]
    logging.configure("doctor", level="ERROR")
    return await examine(msgspec.convert(settings, DoctorConfig, from_attributes=True))


def _line(finding: Finding) -> str:
    action = f" -> {finding.action}" if finding.action else ""
    return f"{_MARKS[finding.state]} {finding.part}: {finding.detail}{action}"
