"""One installation: servers made by the former version, and processes of either version on them."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
import psutil

from scripts.local_services import ports, processes
from scripts.local_services import state as states
from scripts.local_services.processes import ServiceError
from scripts.upgrade.balancer import Balancer, Listeners
from scripts.upgrade.former_version import ROOT, FormerVersion

FORMER, PRESENT = "former", "present"
#: Two at a time: as long as one is replaced, the other one is there.
FORMER_WEB, PRESENT_WEB = ("web-1", "web-2"), ("web-3", "web-4")
_START_SECONDS, _STOP_SECONDS, _DRAIN_SECONDS = 60.0, 60.0, 2.0
#: Where nothing listens: the former version's script then starts servers of its own.
_NOWHERE = {
    "DATABASE_URL": "postgresql://postgres@127.0.0.1:1/postgres",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "RABBITMQ_URL": "amqp://guest:guest@127.0.0.1:1",
    "RABBITMQ_API_URL": "http://guest:guest@127.0.0.1:1",
}


class Complaint(NamedTuple):
    """Lines of a process's log at level error or critical, or that are none of ours, such as a traceback."""

    process: str
    event: str
    times: int


class Installation:
    """Under `directory`, which is emptied by its owner. `settings` are those of both versions."""

    def __init__(self, directory: Path, former: FormerVersion) -> None:
        self.directory, self.former = directory, former
        script = str(former.root / "scripts" / "services.py")
        printed = former.run(script, "start", "--dir", str(directory / "servers"), environment=_NOWHERE)
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
        self._running: dict[str, psutil.Popen] = {}

    def matchfeed_former(self, *arguments: str) -> str:
        """Run the former version's command line; what it prints."""
        return self.former.run("-m", "app.cli", *arguments, environment=self.settings)

    def matchfeed(self, *arguments: str) -> str:
        """Run the present version's command line; what it prints. Raises `ServiceError`."""
        return processes.output_of(
            f"matchfeed {' '.join(arguments)}",
            [sys.executable, "-m", "app.cli", *arguments],
            environment={**os.environ, **self.settings},
            directory=ROOT,
        )

    async def start_web(self, name: str) -> None:
        """Start a web process, wait until it is ready, and have the balancer use it."""
        listeners = self._listeners[name]
        more = {"OPERATOR_PORT": str(listeners.operators)}
        version = PRESENT if name in PRESENT_WEB else FORMER
        self.start(name, version, "serve", "--port", str(listeners.public), more=more)
        async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(_START_SECONDS):
            while not await _answers(client, f"http://127.0.0.1:{listeners.public}/v1/alive"):
                self.check()
                await asyncio.sleep(0.1)
        self.balancer.use(name)

    async def end_web(self, name: str) -> None:
        """Take a web process out of the balancer, then end it in good order."""
        self.balancer.drain(name)
        await asyncio.sleep(_DRAIN_SECONDS)
        await self.end(name)

    def start(self, name: str, version: str, *command: str, more: Mapping[str, str] | None = None) -> None:
        """Start a process of this version; its lines go to a log of its name."""
        former = version == FORMER
        python, root = (self.former.python, self.former.root) if former else (Path(sys.executable), ROOT)
        self._launch(name, [str(python), "-m", "app.cli", *command], root, more or {})

    def simulate(self, key: str, matches: int, speed: float) -> None:
        """Have the former version's simulator play, so many matches at a time, without end."""
        command = ("simulate", "--matches", "1000", "--at-once", str(matches), "--speed", f"{speed:g}")
        added = {"MATCHFEED_OPERATOR_KEY": key}
        self._launch(
            "simulator", [str(self.former.python), "-m", "app.cli", *command], self.former.root, added
        )

    async def end(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        """Send the signal and wait. Raises `ServiceError` where it does not end in a minute."""
        process = self._running.pop(name)
        process.send_signal(how)
        try:
            await asyncio.to_thread(process.wait, _STOP_SECONDS)
        except psutil.TimeoutExpired as error:
            process.kill()
            raise ServiceError(f"{name} did not end within {_STOP_SECONDS:.0f} s") from error

    def check(self) -> None:
        """Raises `ServiceError` when a process has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                words = processes.last_words(self._log(name))
                raise ServiceError(f"{name} has ended by itself, with {process.returncode}: {words}")

    def complaints(self, since: str) -> list[Complaint]:
        """What the logs of all processes have at level error or critical since a moment (ISO 8601, UTC)."""
        return [
            Complaint(log.stem, event, times)
            for log in sorted((self.directory / "log").glob("*.log"))
            if log.stem not in ("haproxy", "simulator")
            for event, times in Counter(_complaints(log, since)).items()
        ]

    def close(self) -> None:
        """End everything that was started."""
        for process in self._running.values():
            process.terminate()
        _, stubborn = psutil.wait_procs(list(self._running.values()), timeout=_STOP_SECONDS)
        for process in stubborn:
            process.kill()
        self.balancer.close()
        servers = self.directory / "servers"
        with states.locked(servers):
            processes.stop(states.load(servers).processes)

    def _launch(self, name: str, command: list[str], root: Path, added: Mapping[str, str]) -> None:
        log = self._log(name)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._running[name] = psutil.Popen(
                command,
                cwd=root,
                env={**os.environ, **self.settings, **added},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _log(self, name: str) -> Path:
        return self.directory / "log" / f"{name}.log"


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).status_code < 500
    except httpx.TransportError:
        return False


def _complaints(log: Path, since: str) -> Iterator[str]:
    for line in log.read_bytes().splitlines():
        try:
            fields = msgspec.json.decode(line, type=dict[str, object])
        except msgspec.MsgspecError:
            yield line.decode(errors="replace")[:200]
            continue
        if fields.get("level") in ("error", "critical") and str(fields.get("timestamp")) >= since:
            yield f"{fields.get('event')}: {str(fields.get('error') or fields.get('exception') or '')[-300:]}"
