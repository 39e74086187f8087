"""The command line, `matchfeed`: thin commands that read the settings once and call one function below.

A command that fails prints one clear line and leaves with a status other than 0. Secrets (keys, AMQP URLs)
are told exactly once, when they are made: on standard output, or in a file that only its owner may read
(`demo_tenants`). Nothing of ours imports this package; the scripts that run the demo import `demo`.
"""

import click

from app.cli.alerts import alerts
from app.cli.demo import demo_tenants
from app.cli.fault import fault
from app.cli.feed import feed
from app.cli.imports import imports
from app.cli.match_commands import audit, match_order, match_record, match_sources
from app.cli.matches import match
from app.cli.processes import PROCESSES
from app.cli.simulation import simulate
from app.cli.tail import tail
from app.cli.tenants import book, key, tenant, unbook
from app.kit.version import VERSION


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="matchfeed")
def main() -> None:
    """Match data, odds and settlements: run the services, look after tenants, play matches.

    Settings come from the environment (DATABASE_URL, RABBITMQ_URL, SECRET_KEY …; see app/settings.py).
    """


for command in (*PROCESSES, feed, tail, tenant, key, book, unbook, match, simulate, demo_tenants):
    main.add_command(command)
for command in (alerts, audit, fault, imports):
    main.add_command(command)
for command in (match_order, match_record, match_sources):
    match.add_command(command)
