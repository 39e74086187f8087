"""Commands that wait for the consent of a second person, on the command line."""

import click
import msgspec

from app.cli.match_control_commands import print_preview, waiting_line
from app.cli.runtime import actor, async_command, command_store, load_settings, pricing_config
from app.commands import consent
from app.kit.clock import iso_seconds, system_clock
from app.kit.control_characters import escape_control_characters
from app.store import consent_requests
from app.store.consent_requests import ConsentRequest, ConsentState


@click.group("consent")
def consents() -> None:
    """Commands that change results published long ago, and wait for a second person (CONSENT_SECONDS)."""


@consents.command("list")
@click.option("--all", "decided", is_flag=True, help="Those that wait no more, too.")
@click.option("--limit", default=50, show_default=True)
@async_command
async def list_consents(decided: bool, limit: int) -> None:
    """Commands that wait for consent."""
    now = system_clock()
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = (
            await consent_requests.listing(tx, limit=limit)
            if decided
            else await consent_requests.waiting(tx, now)
        )
    for each in found:
        click.echo(escape_control_characters(_line(each, now)))
    if not found:
        click.echo("no command" if decided else "no command waits for consent")


@consents.command("show")
@click.argument("number", type=int)
@async_command
async def show_consent(number: int) -> None:
    """What command NUMBER would do now, and the FINGERPRINT of that, by which `give` knows what you saw."""
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store:
        shown = await consent.show(store, number, now=now, pricing=pricing_config(settings))
    request, found, obstacle = shown
    click.echo(escape_control_characters(_line(request, now)))
    if obstacle is not None:
        raise obstacle
    if found is None:
        return
    print_preview(found)
    if found.fingerprint != request.fingerprint:
        click.echo("its effect is another one than when it was sent")
    click.echo(f"fingerprint: {found.fingerprint}")


@consents.command("give")
@click.argument("number", type=int)
@click.argument("fingerprint")
@async_command
async def give_consent(number: int, fingerprint: str) -> None:
    """Consent to command NUMBER, which another person sent: it is executed."""
    settings, now = load_settings(), system_clock()
    async with command_store(settings) as store:
        after = await consent.give(
            store,
            number,
            fingerprint,
            by=actor(),
            person=actor(),
            now=now,
            pricing=pricing_config(settings),
        )
    click.echo(escape_control_characters(_line(after, now)))


@consents.command("refuse")
@click.argument("number", type=int)
@click.option("--reason", default="", help="It is recorded.")
@async_command
async def refuse_consent(number: int, reason: str) -> None:
    """Refuse consent to command NUMBER, or withdraw one that you sent: it is never executed."""
    now = system_clock()
    async with command_store(load_settings()) as store:
        after = await consent.refuse(store, number, reason, by=actor(), person=actor(), now=now)
    click.echo(escape_control_characters(_line(after, now)))


def _line(request: ConsentRequest, now: int) -> str:
    fields = msgspec.json.decode(request.command)
    hidden = ("command", "request_id")
    given = " ".join(f"{name}={value}" for name, value in fields.items() if value and name not in hidden)
    return f"{_state(request, now)} (sent by {request.actor} at {iso_seconds(request.at)}: {given})"


def _state(request: ConsentRequest, now: int) -> str:
    state = request.state(now)
    if state is ConsentState.WAITING:
        return waiting_line(request)
    by = f" by {request.decided_by}" if request.decided_by else ""
    return f"consent {request.id}: {request.name} {state}{by}"
