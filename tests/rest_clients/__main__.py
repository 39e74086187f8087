"""Generate both clients, check their types, and run both programs against a demo.

python -m tests.rest_clients [--port 8620]     (`nox -s clients`; it starts a demo of its own under
var/rest_clients and ends it)

`--document FILE` only generates from another document and counts, for a comparison.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from scripts.lab.demo import Demo, running
from scripts.lab.record import ROOT
from tests.rest_clients import python_client, typescript_client
from tests.support.npm import run

DOCUMENT = ROOT / "docs" / "openapi.json"
VAR = ROOT / "var" / "rest_clients" / "demo"
TENANT, SLOW_RPM = "acme", "3"
CLIENTS = {"Python": python_client, "TypeScript": typescript_client}
_KEY = re.compile(r"mfk_\w+")


def generate(document: Path) -> None:
    for name, client in CLIENTS.items():
        found = client.generate(document.resolve())
        untyped = f"{found.untyped} untyped results, {found.fields} untyped fields"
        print(f"{name}: {found.operations} operations, {untyped}, {found.made_up} made-up names", flush=True)


def slow_key(demo: Demo) -> str:
    """A new key with a few requests a minute."""
    issue = ("-m", "app.cli", "key", "issue", TENANT, "--bundle", "cs2.odds.basic", "--rpm", SLOW_RPM)
    [raw] = _KEY.findall(run(sys.executable, *issue, environment=demo.environment))[:1]
    return str(raw)


def tours(demo: Demo) -> None:
    """Run both programs against the demo, beside a consumer of the tenant's feed: a recovery is complete only
    if a queue receives its end."""
    tenant = demo.tenant(TENANT)
    url, key = demo.description["base_url"], tenant["api_key"]
    with (VAR / "log" / "consumer.log").open("wb") as log:
        command = [sys.executable, "scripts/consumer.py", tenant["amqp_url"], url, key]
        consumer = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            for name, client in CLIENTS.items():
                given = {"MATCHFEED_URL": url, "MATCHFEED_KEY": key, "MATCHFEED_SLOW_KEY": slow_key(demo)}
                print(f"-- {name}\n{client.tour(given)}", flush=True)
        finally:
            consumer.terminate()
            consumer.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Generated clients against the demo")
    parser.add_argument("--port", type=int, default=8620)
    parser.add_argument("--document", type=Path, help="only generate from this document, and count")
    options = parser.parse_args()
    generate(options.document or DOCUMENT)
    if options.document:
        return
    for client in CLIENTS.values():
        client.check()
    with running(VAR, options.port) as demo:
        tours(demo)


if __name__ == "__main__":
    main()
