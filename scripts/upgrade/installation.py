"""One installation: servers made by the former version, and processes of either version on them.

The former version is files from the repository's history, with its own pinned packages.
"""

import asyncio
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from scripts.lab.record import ROOT
from scripts.lab.service import OURS, Code, Complaint, Processes
from scripts.local_services import ports
from scripts.local_services.processes import ServiceError, output_of
from scripts.upgrade.balancer import Balancer, Listeners

FORMER, PRESENT = "former", "present"
#: Two at a time: as long as one is replaced, the other one is there.
FORMER_WEB, PRESENT_WEB = ("web-1", "web-2"), ("web-3", "web-4")
_START_SECONDS, _DRAIN_SECONDS = 120.0, 2.0
#: Where nothing listens: the former version's script then starts servers of its own.
_NOWHERE = {
    "DATABASE_URL": "postgresql://postgres@127.0.0.1:1/postgres",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "RABBITMQ_URL": "amqp://guest:guest@127.0.0.1:1",
    "RABBITMQ_API_URL": "http://guest:guest@127.0.0.1:1",
}
_RELEASED = re.compile(r"^## \[(\d+)\.(\d+).*\n\nCommit ([0-9a-f]{7,40})\b", re.MULTILINE)
_BASELINE = (0, 2)  #: the first version whose database later ones keep
_MAKE = ". scripts/environment.sh; make_environment"


def newest_release() -> str:
    """The commit of the newest version that CHANGELOG.md names; raises `ServiceError` where that is none that
    can be upgraded."""
    for major, minor, commit in _RELEASED.findall((ROOT / "CHANGELOG.md").read_text())[:1]:
        if (int(major), int(minor)) >= _BASELINE:
            return str(commit)
    raise ServiceError(
        "CHANGELOG.md names no version yet whose database this one keeps (0.2.0 or later): rehearse the "
        "upgrade from a commit (-- --commit HASH)"
    )


def _without_ours() -> dict[str, str]:
    """The environment, but for the path by which Python would find the present code before the former one."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


class FormerVersion:
    """An installation of that commit under `directory`, made unless it is there."""

    def __init__(self, directory: Path, commit: str) -> None:
        self.root, self._commit = directory, commit
        if not (directory / "app").is_dir():
            _export(directory, commit)
        subprocess.run(["bash", "-c", _MAKE], cwd=directory, check=True)

    @property
    def python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    @property
    def knows_models(self) -> bool:
        """Whether its matches say which model has priced them: 0.2.0's do not."""
        return "priced_by" in (self.root / "app" / "domain" / "match.py").read_text()

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        """Run its Python with these arguments; what it prints. Raises `ServiceError` with its errors."""
        return output_of(
            f"{self._commit}: {' '.join(arguments)}",
            [self.python, *arguments],
            environment={**_without_ours(), **(environment or {})},
            directory=self.root,
        )


def _export(directory: Path, commit: str) -> None:
    known = subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT, check=False)
    if known.returncode:
        raise ServiceError(
            f"this clone has no commit {commit}: fetch the whole history (git fetch --unshallow)"
        )
    directory.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=directory, input=archive.stdout, check=True)


class Installation:
    """Under `directory`, which is emptied by its owner. `settings` are those of both versions."""

    def __init__(self, directory: Path, former: FormerVersion) -> None:
        self._directory, self.former = directory, former
        printed = self._servers("start")
        found = dict(line.split("=", 1) for line in printed.splitlines())
        web = (*FORMER_WEB, *PRESENT_WEB)
        chosen = ports.free_ports([0] * 2 * len(web))
        pairs = zip(chosen[: len(web)], chosen[len(web) :], strict=True)
        self._listeners = {name: Listeners(*pair) for name, pair in zip(web, pairs, strict=True)}
        self.balancer = Balancer(directory, self._listeners)
        self.settings = {
            **found,
            "DATABASE_URL": found["DATABASE_URL"].rpartition("/")[0] + "/matchfeed",
            "SECRET_KEY": secrets.token_urlsafe(32),
            "PUBLIC_URL": self.balancer.url,
            "DEPLOYMENT": "production",
            "TRUSTED_PROXIES": "127.0.0.1",
        }
        self.processes = Processes(self.settings, directory / "log")

    def matchfeed_former(self, *arguments: str) -> str:
        """Run the former version's command line; what it prints."""
        return self.former.run("-m", "app.cli", *arguments, environment=self.settings)

    def matchfeed(self, *arguments: str) -> str:
        """Run the present version's command line; what it prints. Raises `ServiceError`."""
        return output_of(
            f"matchfeed {' '.join(arguments)}",
            [sys.executable, "-m", "app.cli", *arguments],
            environment={**os.environ, **self.settings},
            directory=ROOT,
        )

    async def start_web(self, name: str) -> None:
        """Start a web process, wait until it is ready, and have the balancer use it."""
        listeners = self._listeners[name]
        version = PRESENT if name in PRESENT_WEB else FORMER
        self.start(
            name, version, "serve", "--port", str(listeners.public), OPERATOR_PORT=str(listeners.operators)
        )
        async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(_START_SECONDS):
            while not await _answers(client, f"http://127.0.0.1:{listeners.public}/v1/alive"):
                self.processes.check()
                await asyncio.sleep(0.1)
        self.balancer.use(name)

    async def end_web(self, name: str) -> None:
        """Take a web process out of the balancer, then end it in good order."""
        self.balancer.drain(name)
        await asyncio.sleep(_DRAIN_SECONDS)
        await self.processes.end(name)

    def start(self, name: str, version: str, *command: str, **more: str) -> None:
        """Start a process of this version; its lines go to a log of its name."""
        of = Code(self.former.python, self.former.root) if version == FORMER else OURS
        self.processes.launch(name, *command, code=of, **more)

    def simulate(self, key: str, matches: int, speed: float) -> None:
        """Have the former version's simulator play, so many matches at a time, without end."""
        command = ("simulate", "--matches", "1000", "--at-once", str(matches), "--speed", f"{speed:g}")
        self.start("simulator", FORMER, *command, MATCHFEED_OPERATOR_KEY=key)

    def _servers(self, command: str) -> str:
        """`start` or `stop` the servers, by the script of the former version; what it printed."""
        script, place = self.former.root / "scripts" / "services.py", self._directory / "servers"
        return self.former.run(str(script), command, "--dir", str(place), environment=_NOWHERE)

    def complaints(self, since: str) -> list[Complaint]:
        """What the logs of all processes have at level error or critical since a moment (ISO 8601, UTC)."""
        return self.processes.complaints(since, "haproxy", "simulator")

    def close(self) -> None:
        """End everything that was started."""
        try:
            self.processes.close()
        finally:
            self.balancer.close()
            self._servers("stop")  # by those who wrote down what they started


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).status_code < 500
    except httpx.TransportError:
        return False
