"""`matchfeed certify`: is a client right, whatever goes wrong on the way?"""

import asyncio
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from app.cli.connections import broker_config
from app.cli.runtime import FILE, async_command, load_settings, print_json
from app.kit import logging
from app.kit.control_characters import escape_control_characters
from app.kit.errors import Refusal
from app.kit.version import VERSION
from app.sandbox.certification import certificate, page
from app.sandbox.certification import run as accidents_run
from app.sandbox.certification.accidents import ACCIDENTS
from app.sandbox.certification.ending import Interrupted, interruptible
from app.sandbox.certification.run import Wanted
from app.sandbox.certification.service import TENANT, ServiceConfig
from app.sandbox.certification.stage import CHANNELS
from app.sandbox.certification.verdicts import Run, Verdict
from app.settings import Settings

_COLOURS = {"passed": "green", "failed": "red", "inconclusive": "yellow", "not run": "yellow"}
_PATIENCE_SECONDS = 45.0
_NO_KEY_LOGIN = (
    "A client cannot log in with its key as SDKs do: the broker asks nobody about keys"
    " (BROKER_AUTHORISATION=patterns)."
)


def _program(_: click.Context, option: click.Parameter, command: str) -> str:
    """The command, whose program there must be before a service is started for it."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise click.BadParameter(f"{command!r} is no command: {error}", param=option) from error
    if words and shutil.which(words[0]) is None:
        raise click.BadParameter(f"there is no program {words[0]!r}", param=option)
    return command


@click.command()
@click.option("--channel", type=click.Choice(CHANNELS), default="amqp", show_default=True)
@click.option(
    "--client", "command", default="", callback=_program, help="Starts the client; without it, you start it."
)
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same order and matches.")
@click.option(
    "--only", multiple=True, type=click.Choice(sorted(ACCIDENTS)), help="This accident; repeatable."
)
@click.option("--list", "listed", is_flag=True, help="List the accidents as JSON, and end.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("certification"),
    show_default=True,
    help="Gets the page, the JSON, the certificate and the logs.",
)
@click.option(
    "--signing-key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="An Ed25519 key (PEM), made if it is missing; default: certify-key.pem in the directory.",
)
@click.option("--verify", type=FILE, help="A certificate.")
@click.option(
    "--tenant", default=TENANT, show_default=True, help="Another name lets two runs be side by side."
)
@click.option(
    "--patience",
    type=click.FloatRange(min=5),
    default=_PATIENCE_SECONDS,
    show_default=True,
    help="Seconds until a client must be right again.",
)
def certify(
    channel: str,
    command: str,
    seed: int,
    only: tuple[str, ...],
    listed: bool,
    output: Path,
    signing_key: Path | None,
    verify: Path | None,
    tenant: str,
    patience: float,
) -> None:
    """Drive a client through accidents, and compare its book after each.

    The service of the certification runs on this installation's servers, with a database and vhosts of its
    own, which are removed afterwards. Exits with 1 unless every accident is passed.
    """
    if listed:
        print_json([_described(name) for name in ACCIDENTS])
        return
    if verify is not None:
        _verify(verify)
        return
    if not tenant.startswith(TENANT):
        raise click.UsageError(f"--tenant must begin with {TENANT!r}: no customer's name is taken")
    directory = output.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    _forget(directory)
    wanted = Wanted(channel, command, seed, only, tenant, patience, directory, _service(), _announce, _notify)
    count = len(accidents_run.chosen(wanted))
    numbers = iter(range(1, count + 1))
    wanted = replace(wanted, notify=lambda verdict: _notify(verdict, f"{next(numbers)}/{count}"))
    _run(wanted, signing_key or directory / "certify-key.pem")


def _forget(directory: Path) -> None:
    """Remove what an earlier run has left: what its client would find, its logs, and what it ended with."""
    for former in (*directory.glob("report-*.json"), *directory.glob("*.log"), *directory.glob("result.*")):
        former.unlink()
    (directory / "certificate.json").unlink(missing_ok=True)
    for former in directory.glob("client-*"):
        shutil.rmtree(former)


@async_command
async def _run(wanted: Wanted, key_file: Path) -> None:
    settings, key = load_settings(), certificate.signing_key(key_file)
    logging.configure("certify", level="ERROR")
    click.echo("The service of the certification is starting: up to a minute.")
    if wanted.channel == "amqp" and settings.broker_authorisation != "http":
        click.echo(_NO_KEY_LOGIN, err=True)
    try:
        async with interruptible(partial(click.echo, err=True)), broker_config(settings) as broker:
            run = await accidents_run.certify(service_config(settings), broker, wanted)
    except Interrupted as error:
        raise click.ClickException(str(error)) from error
    await asyncio.to_thread(_write, wanted.directory, run)
    if run.passed:
        (wanted.directory / "certificate.json").write_bytes(certificate.signed(run, key))
    count = sum(verdict.outcome == "passed" for verdict in run.verdicts)
    _echo(f"{run.client} {run.client_version}: {count} of {len(run.verdicts)} passed, seed {run.seed}")
    click.echo(f"page, JSON{', certificate' if run.passed else ''} and logs: {wanted.directory}")
    if not run.passed:
        sys.exit(1)


def service_config(settings: Settings) -> ServiceConfig:
    """What a certification takes of these settings."""
    environment = {name.upper(): str(value) for name, value in msgspec.structs.asdict(settings).items()}
    return ServiceConfig(settings.database_url, settings.secret_key, settings.exchange, environment)


def _write(directory: Path, run: Run) -> None:
    verdicts = [_described(each.accident) | msgspec.to_builtins(each) for each in run.verdicts]
    document = msgspec.to_builtins(run) | {"passed": run.passed, "verdicts": verdicts}
    (directory / "result.json").write_text(json.dumps(document, indent=1, ensure_ascii=False), "utf-8")
    (directory / "result.html").write_text(page.rendered(run), "utf-8")


def _verify(file: Path) -> None:
    try:
        found, public_key = certificate.verified(file.read_bytes())
    except Refusal as error:
        raise click.ClickException(str(error)) from error
    client = f"{found['client']} {found['client_version']}".rstrip()
    passed = f"{'all' if found['complete'] else 'not all, but'} {len(found['accidents'])} accidents"
    _echo(f"valid: {client} has passed {passed} of {found['channel']}", err=True)
    print_json(found | {"signed_by": public_key})


def _described(name: str) -> dict[str, object]:
    found = ACCIDENTS[name]
    return {
        "name": name,
        "channels": list(found.channels),
        "what": found.what,
        "client": found.client,
        "why": found.why,
        "needs_client_command": found.restarts,
    }


def _service() -> str:
    """Our version, and in a checkout the commit."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / ".git").exists():
        return f"matchfeed {VERSION}"
    command = ("git", "-C", str(checkout), "rev-parse", "HEAD")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return f"matchfeed {VERSION}"
    return f"matchfeed {VERSION}, commit {done.stdout.strip()}"


def _announce(environment: Mapping[str, str]) -> None:
    click.echo("Start the client with these, and have it report (docs/certify.md):")
    for name, value in environment.items():
        click.echo(f"export {name}={shlex.quote(value)}")


def _notify(verdict: Verdict, place: str = "") -> None:
    line = f"{place:>6} {verdict.outcome:12} {verdict.accident:26} {verdict.seconds:5.1f} s  {verdict.text}"
    _echo(line.rstrip(), fg=_COLOURS[verdict.outcome])
    for wrong in verdict.wrong[:1]:
        _echo(f"  first wrong market: {wrong.market}: {wrong.yours}; right: {wrong.ours}")
        for message in wrong.messages:
            _echo(f"    {message[:200]}")


def _echo(text: str, **style: Any) -> None:
    """Print a line in which names and messages are that others chose."""
    click.secho(escape_control_characters(text), **style)
