"""The command line, `matchfeed`: thin commands that read the settings once and call one function below.

A command that fails prints one clear line and exits with a status other than 0. Secrets (keys, AMQP URLs,
one-time links) are printed exactly once, when they are created: to standard output, or in a file that only
its owner may read (`demo_tenants`). Nothing of ours imports this package; the scripts that run the demo
import `sandbox_commands`.
"""

import click

from app.cli.alert_commands import alert, alerts
from app.cli.feed_commands import feed, tail
from app.cli.file_commands import files
from app.cli.import_commands import imports, ratings, references
from app.cli.installation_commands import doctor, restored
from app.cli.match_control_commands import (
    consents,
    match_audit,
    match_command,
    match_sources,
    preview_command,
    settlement_check,
)
from app.cli.match_lifecycle_commands import match
from app.cli.process_commands import PROCESSES
from app.cli.profile_commands import profile
from app.cli.reference_commands import reference
from app.cli.sandbox_commands import demo_tenants, fault, simulate
from app.cli.tenant_commands import book, key, tenant, unbook
from app.cli.user_commands import operator, user
from app.kit.version import VERSION


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="matchfeed")
def main() -> None:
    """Match data, odds and settlements: run the services, administer tenants and matches.

    Settings come from the environment (DATABASE_URL, RABBITMQ_URL, SECRET_KEY …; see app/settings.py).
    """


for command in (*PROCESSES, feed, tail, tenant, user, operator, key, book, unbook, match):
    main.add_command(command)
for command in (
    profile,
    simulate,
    ratings,
    reference,
    references,
    demo_tenants,
    doctor,
    restored,
    alerts,
    alert,
    consents,
    settlement_check,
    fault,
    imports,
    files,
):
    main.add_command(command)
for command in (match_command, preview_command, match_audit, match_sources):
    match.add_command(command)
