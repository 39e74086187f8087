"""Runs of certification on our clients, and on mutants of one of them."""

import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex

from app.cli.certify_commands import service_config
from app.cli.connections import broker_config
from app.sandbox.certification.accidents import ACCIDENTS
from app.sandbox.certification.run import Wanted, judged, staged
from app.sandbox.certification.service import CertifiedService, serving
from app.sandbox.certification.verdicts import Verdict
from app.settings import Settings
from scripts import golang
from tests.certification.mutants import MUTANTS
from tests.support import npm

ROOT = Path(__file__).resolve().parents[2]
_PYTHON = ("env", f"PYTHONPATH={ROOT}:{ROOT / 'scripts' / 'client'}", sys.executable)
CLIENT = shlex.join((*_PYTHON, "-m", "matchfeed_client.reporting"))
TYPESCRIPT = ROOT / "scripts" / "clients" / "typescript"
#: With the name of a line of `sdk_client.habits`.
SDK_CLIENT = shlex.join((*_PYTHON, "-m", "tests.sdk_client.reporting")) + " '{}'"
_TENANT = f"certification-{token_hex(3)}"  #: several test processes may run at a time
_PATIENCE = 45.0
_MUTANT_PATIENCE = 30.0


def client_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """For a client of ours that a test starts by itself."""
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts' / 'client'}", **environment}


def wanted(channel: str, directory: Path, *, command: str = CLIENT, **others: object) -> Wanted:
    """A run over the channel, of all accidents with seed 1 unless `others` say otherwise."""
    directory.mkdir(parents=True, exist_ok=True)
    fields: dict[str, object] = {
        "seed": 1,
        "only": (),
        "tenant": _TENANT,
        "patience": _PATIENCE,
        "service": "of a test",
        "announce": _announce,
        "notify": show,
    }
    return Wanted(channel=channel, command=command, directory=directory, **(fields | others))  # type: ignore[arg-type]


def typescript() -> str:
    """The command of the TypeScript client, which is built first."""
    npm.built(TYPESCRIPT)
    return shlex.join((npm.node(), str(TYPESCRIPT / "dist" / "reporting.js")))


#: The clients, each with what gives the command that starts it; it may have to be built for that.
CLIENTS: Mapping[str, Callable[[], str]] = {
    "python": lambda: CLIENT,
    "typescript": typescript,
    "go": lambda: shlex.quote(str(golang.built() / "reporting")),
}


def _announce(environment: Mapping[str, str]) -> None:
    raise AssertionError("our client is started by a command")


def show(verdict: Verdict) -> None:
    print(f"{verdict.outcome:12} {verdict.accident:26} {verdict.seconds:5.1f} s {verdict.text}", flush=True)
    for wrong in verdict.wrong[:1]:
        print(f"             {wrong.market}: {wrong.yours}; right: {wrong.ours}", flush=True)


@asynccontextmanager
async def served(settings: Settings, directory: Path) -> AsyncIterator[tuple[CertifiedService, str]]:
    """A service for several runs, and an operator's key."""
    async with (
        broker_config(settings) as broker,
        serving(service_config(settings), broker, directory, _TENANT) as found,
    ):
        yield found


async def caught(
    service: CertifiedService,
    operator_key: str,
    name: str,
    directory: Path,
    *,
    patience: float = _MUTANT_PATIENCE,
) -> tuple[bool, Verdict]:
    """Whether certification catches the mutant, and its last verdict on it."""
    mutant = MUTANTS[name]
    print(f"mutant {name}", flush=True)
    command = shlex.join((*_PYTHON, "-m", "tests.certification.mutants", name))
    run = wanted(mutant.channel, directory / name, command=command, patience=patience)
    verdict = Verdict("", "not run")
    for accident in mutant.catches:
        shutil.rmtree(run.directory, ignore_errors=True)
        run.directory.mkdir()
        async with staged(service, operator_key, run) as stage:
            verdict = await judged(stage, ACCIDENTS[accident])
        show(verdict)
        if mutant.caught(verdict):
            return True, verdict
    return False, verdict
