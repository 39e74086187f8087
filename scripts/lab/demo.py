"""A demo of a scenario's own: started, described, broken by the menu of `matchfeed fault`, ended."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from app import settings
from app.sandbox.demonstration import RunningDemo
from app.sandbox.faults import FaultTarget
from scripts.lab.record import ROOT


class Demo(NamedTuple):
    """What `var/demo.json` says, and the settings that `var/demo.env` exports."""

    description: dict[str, Any]
    environment: dict[str, str]

    def tenant(self, slug: str) -> dict[str, Any]:
        """What a tenant of it logs in with."""
        [found] = [each for each in self.description["tenants"] if each["slug"] == slug]
        return dict(found)

    def fault_target(self, tenant: str) -> FaultTarget:
        """What a fault of the menu hits; its steps are printed."""
        config = settings.load(self.environment)
        return FaultTarget(
            demo=RunningDemo(self.environment),
            tenant=tenant,
            database_url=config.database_url,
            rabbitmq_url=config.rabbitmq_url,
            rabbitmq_api_url=config.rabbitmq_api_url,
            exchange=config.exchange,
            producer_id=config.producer_id,
            print_step=lambda text: print(f"   {text}", flush=True),
        )


def present(var: Path) -> Demo:
    """The demo that runs under `var`."""
    lines = (var / "demo.env").read_text().splitlines()
    assignments = [shlex.split(line.removeprefix("export "))[0] for line in lines]
    environment = dict(assignment.split("=", 1) for assignment in assignments)
    return Demo(json.loads((var / "demo.json").read_text()), environment)


@contextmanager
def running(var: Path, port: int, **environment: str) -> Iterator[Demo]:
    """A new demo under `var`, which ends with the block."""
    _run(var, environment, "--detach", "--reset", "--port", str(port))
    try:
        yield present(var)
    finally:
        _run(var, environment, "--stop")


def _run(var: Path, environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "scripts.demo", *arguments]
    variables = os.environ | environment | {"MATCHFEED_VAR": str(var)}
    subprocess.run(command, cwd=ROOT, env=variables, check=True)
