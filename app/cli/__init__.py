"""The command line, `matchfeed`: thin commands that read the settings once and call one function below.

A command that fails prints one clear line and exits with a status other than 0. Secrets (keys, AMQP URLs,
one-time links) are printed exactly once, when they are created: to standard output, or in a file that only
its owner may read (`demo_tenants`). Nothing of ours imports this package; the scripts that run the demo
import `sandbox_commands`.
"""

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

from app.kit import garbage_collection
from app.kit.version import VERSION

#: The module of each command and its name there.
_MODULES = {
    "serve": ("serve_commands", "serve"),
    "broker-authorisation": ("process_commands", "broker_authorisation"),
    "ingest": ("ingest_command", "ingest"),
    "migrate": ("process_commands", "migrate"),
    "feed": ("feed_commands", "feed"),
    "tail": ("feed_commands", "tail"),
    "tenant": ("tenant_commands", "tenant"),
    "user": ("user_commands", "user"),
    "operator": ("user_commands", "operator"),
    "key": ("tenant_commands", "key"),
    "book": ("tenant_commands", "book"),
    "unbook": ("tenant_commands", "unbook"),
    "match": ("match_commands", "match"),
    "profile": ("profile_commands", "profile"),
    "simulate": ("simulate_command", "simulate"),
    "ratings": ("import_commands", "ratings"),
    "reference": ("reference_commands", "reference"),
    "references": ("import_commands", "references"),
    "demo-tenants": ("sandbox_commands", "demo_tenants"),
    "doctor": ("installation_commands", "doctor"),
    "restored": ("installation_commands", "restored"),
    "alerts": ("alert_commands", "alerts"),
    "alert": ("alert_commands", "alert"),
    "claim": ("claim_commands", "claim"),
    "consent": ("match_control_commands", "consents"),
    "audit": ("match_control_commands", "settlement_check"),
    "fault": ("sandbox_commands", "fault"),
    "import": ("import_commands", "imports"),
    "files": ("file_commands", "files"),
    "maintenance": ("status_commands", "maintenance"),
    "incident": ("status_commands", "incident"),
    "price": ("price_commands", "price"),
    "recompute": ("recompute_commands", "recompute_match"),
    "coefficients": ("recompute_commands", "write_coefficients"),
    "ledger": ("ledger_commands", "ledger"),
    "certify": ("certify_commands", "certify"),
}


class _Commands(MutableMapping[str, click.Command]):
    """Every command. Its module is imported when it is looked up: what one process needs, another need not
    wait for when it starts."""

    def __init__(self) -> None:
        self._added: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._added:
            module, attribute = _MODULES[name]
            with garbage_collection.paused():
                self._added[name] = getattr(import_module(f"{__name__}.{module}"), attribute)
        return self._added[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._added[name] = command

    def __delitem__(self, name: str) -> None:
        del self._added[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES


@click.group(commands=_Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="matchfeed")
def main() -> None:
    """Match data, odds and settlements: run the services, administer tenants and matches.

    Settings come from the environment (DATABASE_URL, RABBITMQ_URL, SECRET_KEY …; see app/settings.py).
    """
