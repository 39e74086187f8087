"""How long a visitor waits: from `./scripts/demo` to the first price that moves, and until a process of the
service that was killed serves again.

    python -m scripts.bench.start [--cold] [--repetitions 3]

`--cold` begins each time with a copy of the checkout that has no `.venv` and no `var`, so packages are
installed too (from where pip is set up to find them); without it, what is installed is there and the demo
has run before. The reference in the same run is the bare start of Python with the same packages loaded, which
distinguishes a busy machine from a slow start. Each demo is ended afterwards.

In each demo ingest, feed and web are killed (SIGKILL), one after the other: how long until the new process
runs (its metrics answer), and until it serves: ingest has applied a batch, the broker has confirmed a message
of the feed, the API answers. What lies between is connecting, and the takeover of queues and leases.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import httpx
import msgspec

from scripts.demonstration.run_record import Record
from scripts.local_services import ports

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_SECONDS = 600.0


class Figure(msgspec.Struct, frozen=True):
    """Seconds: until the command says ready, until a price has moved, and the reference; and for each killed
    process, until the new one runs and until it serves."""

    ready: float
    moved: float
    bare: float
    restarts: dict[str, tuple[float, float]]


def first_move(base_url: str, key: str) -> None:
    """Return once some active price of a live match has changed."""
    with httpx.Client(base_url=base_url, headers={"X-API-Key": key}, timeout=5, trust_env=False) as client:
        seen: dict[str, float] = {}
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            for match in client.get("/cs2/v1/matches", params={"status": "live"}).json()["data"]:
                for market in client.get(f"/cs2/v1/matches/{match['id']}/markets").json()["data"]:
                    name = f"{match['id']} {market['market_offer_id']}"
                    if seen.setdefault(name, market["odds"]) != market["odds"]:
                        return
            time.sleep(0.2)
    raise SystemExit("no price has moved")


def measure(checkout: Path, var: Path) -> Figure:
    """Start a demo of `checkout`, wait for a price to move, and end it."""
    [port] = ports.free_ports([0])
    environment = os.environ | {"MATCHFEED_VAR": str(var)}
    demo = [str(checkout / "scripts" / "demo")]
    begun = time.monotonic()
    subprocess.run([*demo, "--detach", "--port", str(port)], env=environment, check=True, stdout=sys.stderr)
    ready = time.monotonic() - begun
    try:
        described = msgspec.json.decode((var / "demo.json").read_bytes())
        first_move(described["base_url"], described["tenants"][0]["api_key"])
        moved = time.monotonic() - begun
        restarts = {name: restart(name, var, described) for name in _SERVING}
    finally:
        subprocess.run([*demo, "--stop"], env=environment, check=True, stdout=sys.stderr)
    return Figure(ready, moved, bare_start(checkout), restarts)


def restart(name: str, var: Path, described: dict[str, Any]) -> tuple[float, float]:
    """Kill a process of the service; the seconds until the next one runs, and until it serves."""
    record = msgspec.json.decode((var / "demo" / "record.json").read_bytes(), type=Record)
    key = {"X-API-Key": described["tenants"][0]["api_key"]}
    with httpx.Client(headers=key, timeout=1, trust_env=False) as client:
        begun = time.monotonic()
        os.kill(record.children[name].pid, signal.SIGKILL)
        metrics = described["metrics"][name]
        runs = _seconds_until(begun, lambda: _answer(client, metrics) is not None)
        serves = _seconds_until(begun, lambda: _SERVING[name](client, described))
        return runs, serves


def _seconds_until(begun: float, true: Callable[[], bool]) -> float:
    while not true():
        if time.monotonic() - begun > _PATIENCE_SECONDS:
            raise SystemExit("a killed process does not serve again")
        time.sleep(0.02)
    return time.monotonic() - begun


def _answer(client: httpx.Client, url: str) -> str | None:
    try:
        return client.get(url).raise_for_status().text
    except httpx.HTTPError:
        return None


def _counted(client: httpx.Client, url: str, sample: str) -> bool:
    """Whether a process that began with zero has counted something."""
    lines = (_answer(client, url) or "").splitlines()
    return any(line.startswith(f"{sample}{{") and float(line.rpartition(" ")[2]) > 0 for line in lines)


#: The processes, and what each does when it serves.
_SERVING: dict[str, Callable[[httpx.Client, dict[str, Any]], bool]] = {
    "ingest": lambda client, demo: _counted(client, demo["metrics"]["ingest"], "matchfeed_log_batches_total"),
    "feed": lambda client, demo: _counted(client, demo["metrics"]["feed"], "matchfeed_feed_published_total"),
    "web": lambda client, demo: _answer(client, f"{demo['base_url']}/v1/alive") is not None,
}


def bare_start(checkout: Path) -> float:
    begun = time.monotonic()
    command = [str(checkout / ".venv" / "bin" / "python"), "-c", "import app.main"]
    subprocess.run(command, cwd=checkout, check=True)
    return time.monotonic() - begun


def copied(to: Path) -> Path:
    """The tracked files as they are, and nothing else."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def show(name: str, seconds: Sequence[float]) -> None:
    """A row: the median, and from where to where."""
    print(f"{name:21} {statistics.median(seconds):6.1f} s  ({min(seconds):.1f} to {max(seconds):.1f})")


@click.command()
@click.option("--cold", is_flag=True, help="Install everything anew, each time.")
@click.option("--repetitions", default=3, show_default=True)
def main(cold: bool, repetitions: int) -> None:
    figures = []
    with tempfile.TemporaryDirectory() as place:
        if not cold:
            measure(ROOT, Path(place) / "var")  # so that the next ones are warm
        for number in range(repetitions):
            checkout = copied(Path(place) / f"checkout{number}") if cold else ROOT
            figures.append(measure(checkout, checkout / "var" if cold else Path(place) / "var"))
    for name in ("ready", "moved", "bare"):
        show(name, [getattr(figure, name) for figure in figures])
    for name in _SERVING:
        for index, what in enumerate(("runs", "serves")):
            show(f"{name} killed, {what}", [figure.restarts[name][index] for figure in figures])
    worth = statistics.median(figure.moved / figure.bare for figure in figures)
    kind = "cold" if cold else "warm"
    print(f"first moving price / bare start: {worth:.0f}; medians of {repetitions}, {kind}")


if __name__ == "__main__":
    main()
