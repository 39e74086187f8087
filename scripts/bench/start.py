"""How long a visitor waits: from `./scripts/demo` to the first price that moves.

    python -m scripts.bench.start [--cold] [--repetitions 3]

`--cold` begins each time with a copy of the checkout that has no `.venv` and no `var`, so packages are
installed too (from where pip is set up to find them); without it, what is installed is there and the demo
has run before. The reference in the same run is the bare start of Python with the same packages loaded, which
distinguishes a busy machine from a slow start. Each demo is ended afterwards.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import httpx
import msgspec

from scripts.local_services import ports

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_SECONDS = 600.0


class Figure(msgspec.Struct, frozen=True):
    """Seconds: until the command says ready, until a price has moved, and the reference."""

    ready: float
    moved: float
    bare: float


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
    finally:
        subprocess.run([*demo, "--stop"], env=environment, check=True, stdout=sys.stderr)
    return Figure(ready, moved, bare_start(checkout))


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
        seen = [getattr(figure, name) for figure in figures]
        print(f"{name:6} {statistics.median(seen):6.1f} s  ({min(seen):.1f} to {max(seen):.1f})")
    worth = statistics.median(figure.moved / figure.bare for figure in figures)
    kind = "cold" if cold else "warm"
    print(f"first moving price / bare start: {worth:.0f}; medians of {repetitions}, {kind}")


if __name__ == "__main__":
    main()
