"""The demo as a visitor meets it: one command up, one command down, and the promise between them."""

import asyncio
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import aio_pika
import httpx
import msgspec
import psutil
from lxml import etree

from app.broker.management import Management
from scripts.local_services import ports
from scripts.services import Services
from tests.support.ports import spare
from tests.support.processes import ROOT, output

SCHEMA = ROOT / "schemas" / "feed.xsd"


class Place:
    """A directory for a demo of this test's own, its port, and the command."""

    def __init__(self, services: Services, var: Path) -> None:
        self.var = var
        self.port, database = spare(2)
        self._environment = (
            os.environ
            | services.environment()
            | {"MATCHFEED_VAR": str(var), "DATABASE_URL": f"postgresql://postgres@127.0.0.1:{database}/x"}
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts.demo", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self._environment, capture_output=True, text=True, check=False
        )

    def start(self) -> dict[str, Any]:
        """Start it detached; the contents of `demo.json`."""
        done = self.run("--detach", "--port", str(self.port))
        assert done.returncode == 0, done.stdout + done.stderr
        described: dict[str, Any] = msgspec.json.decode((self.var / "demo.json").read_bytes())
        return described

    def matchfeed(self, *words: str) -> str:
        """What a command prints, in a shell that the demo's settings lead to."""
        command = f'. "{self.var}/demo.env" && exec "{sys.executable}" -m app.cli {shlex.join(words)}'
        return output("bash", "-c", command, cwd=ROOT)

    def processes(self) -> list[int]:
        """Whatever runs with this directory in its command or environment."""
        return [process.pid for process in psutil.process_iter() if self._ours(process)]

    def _ours(self, process: psutil.Process) -> bool:
        try:
            texts = process.environ().get("MATCHFEED_VAR"), *process.cmdline()
            return process.pid != os.getpid() and any(str(self.var) in (each or "") for each in texts)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False


async def first_odds_change(url: str, exchange: str) -> bytes:
    async with asyncio.timeout(60), await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(exchange, "#.odds_change.#")
        async with queue.iterator(no_ack=True) as messages:
            async for message in messages:
                return message.body
    raise AssertionError("the queue ended")


async def vhosts(services: Services) -> set[str]:
    async with Management(services.rabbitmq_api_url) as management:
        return set(await management.vhosts())


def test_a_visitor_sees_a_match_on_every_channel_and_leaves_no_trace(
    place: Place, services: Services
) -> None:
    demo = place.start()
    tenants = {tenant["slug"]: tenant for tenant in demo["tenants"]}
    assert list(tenants) == ["acme", "beta", "statsco", "scoreline", "newco"]
    assert [slug for slug, tenant in tenants.items() if tenant["amqp_url"]] == ["acme", "beta"]

    body = asyncio.run(first_odds_change(tenants["acme"]["amqp_url"], demo["exchange"]))
    envelope = etree.fromstring(body)
    etree.XMLSchema(file=str(SCHEMA)).assertValid(envelope)
    match = envelope.get("event_id")
    with httpx.Client(base_url=demo["base_url"], headers={"X-Api-Key": tenants["acme"]["api_key"]}) as client:
        assert client.get(f"/cs2/v1/matches/{match}").json()["data"]["urn"] == match
        for status in ("live", "upcoming", "finished"):
            listed = client.get("/cs2/v1/matches", params={"status": status}).json()["data"]
            assert len(listed) >= 3, status

    again = place.run("--detach", "--port", str(place.port))
    assert again.returncode == 0
    assert "already running" in again.stdout
    assert msgspec.json.decode((place.var / "demo.json").read_bytes()) == demo

    assert {"acme", "beta"} <= asyncio.run(vhosts(services))
    assert place.run("--stop").returncode == 0
    assert {"acme", "beta"}.isdisjoint(asyncio.run(vhosts(services)))
    assert place.processes() == []
    assert ports.is_free(place.port)
    assert not (place.var / "demo.json").exists()


def test_a_port_in_use_is_reported_in_one_line(place: Place) -> None:
    with socket.create_server((ports.LOOPBACK, place.port)):
        done = place.run("--detach", "--port", str(place.port))
    assert done.returncode == 1
    assert done.stderr == (
        f"demo: port {place.port} is taken; end what listens there, or choose another with --port\n"
    )
    assert place.processes() == []
