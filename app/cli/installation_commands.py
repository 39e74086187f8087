"""The examination of an installation, and what has to be done after a restore of its database."""

import json
from collections.abc import Iterable, Sequence

import click
import msgspec

from app.cli.connections import broker_config
from app.cli.runtime import actor, async_command, load_settings, print_line
from app.domain.ids import match_urn
from app.kit import logging
from app.kit.clock import iso_millis
from app.operations.doctor.examination import DoctorConfig, examine
from app.operations.doctor.findings import Finding, State, ill
from app.operations.restoration.checks import Audit
from app.operations.restoration.procedure import Restored, RestoreOptions, put_in_order
from app.store.connections import open_store

_MARKS = {State.WELL: "well   ", State.ILL: "ILL    ", State.UNKNOWN: "unknown"}
_SHOWN = 20  #: names in a line; the rest is counted


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
        print_line(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        for each in found:
            if everything or each.state is not State.WELL:
                print_line(_finding_line(each))
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


def _finding_line(finding: Finding) -> str:
    action = f" -> {finding.action}" if finding.action else ""
    return f"{_MARKS[finding.state]} {finding.part}: {finding.detail}{action}"


@click.command()
@click.option(
    "--published-seq",
    type=click.IntRange(0, 2**53),
    default=0,
    help="The highest x-seq, stream seq or settlement id that a client is known to have.",
)
@click.option(
    "--despite-differences", is_flag=True, help="Go on although ledger and change log are not sound."
)
@async_command
async def restored(published_seq: int, despite_differences: bool) -> None:
    """Put a database in order that was restored from a backup, before any process starts on it.

    Checks ledger, change log and clocks; makes or repairs the broker's users and vhosts (an AMQP URL with a
    new password is printed once); continues with numbers above all that can have been published; has every
    tenant notified that it must recover; ends sessions, links, recoveries and leases of the past; suspends
    every match that is not over. Refuses while processes of the service are alive. Safe to run again.
    """
    settings = load_settings()
    options = RestoreOptions(
        by=actor(),
        internal_vhost=settings.rabbitmq_internal_vhost,
        published_seq=published_seq,
        despite_differences=despite_differences,
    )
    async with await open_store(settings.database_url, 1) as store, broker_config(settings) as broker:
        done = await put_in_order(store, broker, options, _show_url, _show_audit)
    for line in _report(done):
        print_line(line)


def _show_url(slug: str, url: str) -> None:
    click.echo(f"{slug} has a new password: {url}")


def _show_audit(found: Audit) -> None:
    for wrong in found.wrong:
        print_line(wrong)
    click.echo(
        f"audited {found.entries} ledger entries of {found.matches} matches, and the change log: "
        f"{len(found.wrong)} differences"
    )


def _report(done: Restored) -> Iterable[str]:
    known, vhosts, suspended, ended = done.known, done.vhosts, done.suspended, done.ended
    yield (
        f"the backup ends with seq {known.head} ({iso_millis(known.newest_at)}), the next is {done.mark}: "
        "messages and ledger entries with numbers in between are lost"
    )
    yield f"vhosts: {len(vhosts.created)} made anew, {len(vhosts.repaired)} as before"
    if vhosts.unknown:
        yield f"the broker has users of tenants that the database does not know: {_some(vhosts.unknown)}"
    yield f'{done.tenants_notified} tenants are notified (subscribed="0") as soon as a queue is bound'
    yield (
        f"ended: {ended.sessions} sessions, {ended.links} links, {ended.recoveries} recoveries in progress; "
        "people sign in again"
    )
    yield (
        f"{done.active_keys} keys are active, as they were at the backup: repeat what was revoked, "
        "rotated or issued since (`matchfeed key`)"
    )
    yield f"suspended until ingest runs: {len(suspended.waiting)} matches"
    yield (
        f"suspended until a round begins in their log, or an operator decides: {_matches(suspended.doubted)}"
    )
    yield "next: start the processes; `matchfeed alerts` lists matches that are not followed yet"


def _matches(numbers: Sequence[int]) -> str:
    return f"{len(numbers)} matches: {_some([match_urn(each) for each in numbers])}" if numbers else "none"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
