"""A RabbitMQ of the tests' own, to be stopped, killed and starved, so that the shared one is left alone."""

import asyncio
import signal
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec

from app.settings import Settings
from scripts.local_services import ports, processes, rabbitmq
from scripts.local_services import state as states
from scripts.local_services.certificates import ensure_certificate
from scripts.local_services.processes import Started
from scripts.local_services.rabbitmq import BrokerUrls, Options
from scripts.local_services.state import State
from tests.sdk_client.broker import BrokerAddress
from tests.support.eventually import eventually
from tests.support.ports import spare

_PORTS = ("amqp", "amqps", "management", "distribution")


class PrivateBroker:
    """Its files lie under `directory`, so that it is the same broker whenever it is started."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._urls = BrokerUrls("", "", "")
        self._admitting = ""  #: the database whose keys may log in

    async def start(self) -> None:
        self._urls = await asyncio.to_thread(self._start)

    async def stop(self) -> None:
        """End it in good order."""
        await asyncio.to_thread(self._end)

    async def kill(self) -> None:
        found = processes.find(self._broker())
        assert found
        found.send_signal(signal.SIGKILL)
        await self.stop()

    async def starve(self) -> None:
        """Memory alarm: from now on it takes no messages from anybody."""
        await self._control("set_vm_memory_high_watermark", "0")

    async def feed(self) -> None:
        """The alarm is over."""
        await self._control("set_vm_memory_high_watermark", "0.6")

    def answer_no_more(self) -> None:
        """End the process that authorises tenants."""
        with states.locked(self._directory):
            state = states.load(self._directory)
            processes.stop(each for each in state.processes if each.name == "broker-authorisation")
            state.processes = [each for each in state.processes if processes.find(each)]
            states.save(self._directory, state)
        self._admitting = ""

    def answer(self, settings: Settings | None = None) -> None:
        """Start that process again; with `settings`, the keys of their database may log in."""
        keys = {"DATABASE_URL": settings.database_url, "SECRET_KEY": settings.secret_key} if settings else {}
        with states.locked(self._directory):
            state = states.load(self._directory)
            port = rabbitmq.authorise(self._directory, state, self._urls.api_url, keys)
        answering = partial(ports.answers, ports.LOOPBACK, port)
        assert ports.wait_until(answering, alive=lambda: True, seconds=60), "nothing authorises tenants"
        self._admitting = settings.database_url if settings else ""

    def admit_keys(self, settings: Settings) -> None:
        """The keys of this database may log in, and those of no other. Of tenants' users nothing changes."""
        if self._admitting != settings.database_url:
            self.answer_no_more()
            self.answer(settings)

    @property
    def authorisation_port(self) -> int:
        """Where the broker sends its requests about tenants and keys."""
        return states.load(self._directory).ports["broker-authorisation"]

    @property
    def tls(self) -> BrokerAddress:
        """The broker as existing clients reach it."""
        host, _, port = self._urls.amqps_url.removeprefix("amqps://").partition(":")
        return BrokerAddress(host, int(port), str(self._directory / "tls" / "ca.pem"))

    async def narrow(self, spare: int) -> None:
        """Memory alarm as soon as it uses `spare` bytes more than now."""
        [node] = await eventually(self._nodes, lambda nodes: "mem_used" in nodes[0])
        await self._control("set_vm_memory_high_watermark", "absolute", str(node["mem_used"] + spare))

    async def list_an_ended_connection(self, user: str, vhost: str) -> None:
        """From now on the broker lists a connection of `user` whose process has ended, as it rarely does by
        itself."""
        name = '<<"127.0.0.1:1 -> 127.0.0.1:2">>'
        fields = (
            f'{{node(), {name}}}, node(), <<"{vhost}">>, {name}, spawn(fun() -> ok end), network, network'
        )
        row = f'{{tracked_connection, {fields}, {{127, 0, 0, 1}}, 1, <<"{user}">>, 1}}'
        await self._control("eval", f"rabbit_connection_tracking:register_tracked({row}).")

    async def alarmed(self) -> bool:
        """Whether there is a memory alarm."""
        return any(node["mem_alarm"] for node in await self._nodes())

    async def _nodes(self) -> list[dict[str, Any]]:
        async with httpx.AsyncClient() as client:
            found: list[dict[str, Any]] = (await client.get(f"{self._urls.api_url}/api/nodes")).json()
            return found

    def close(self) -> None:
        state = states.load(self._directory)
        processes.stop(each for each in state.processes if processes.find(each))

    def used_by(self, settings: Settings) -> Settings:
        """The settings, with this broker in them."""
        host = self._urls.url.rpartition("@")[2]
        return msgspec.structs.replace(
            settings,
            rabbitmq_url=self._urls.url,
            rabbitmq_api_url=self._urls.api_url,
            rabbitmq_public_host=host,
            broker_authorisation="http",
        )

    async def _control(self, *arguments: str) -> None:
        await asyncio.to_thread(rabbitmq.control, self._directory, *arguments)

    def _start(self) -> BrokerUrls:
        self._directory.mkdir(parents=True, exist_ok=True)
        with states.locked(self._directory):
            state = states.load(self._directory)
            self._keep_ports(state)
            options = Options(ensure_certificate(self._directory / "tls"))
            return rabbitmq.start(self._directory, state, options, print)

    def _keep_ports(self, state: State) -> None:
        """The same ports at each start, and none that the kernel gives to outgoing connections meanwhile."""
        if not state.ports:
            state.ports = dict(zip((*_PORTS, "epmd"), spare(len(_PORTS) + 1), strict=True))
        for name in _PORTS:
            free = partial(ports.is_free, state.ports[name])
            assert ports.wait_until(free, alive=lambda: True, seconds=60), f"{name}'s port is in use"

    def _end(self) -> None:
        with states.locked(self._directory):
            state = states.load(self._directory)
            broker = self._broker()
            processes.stop([broker])
            state.processes = [each for each in state.processes if each.pid != broker.pid]
            states.save(self._directory, state)

    def _broker(self) -> Started:
        state = states.load(self._directory)
        return next(each for each in state.processes if each.name == "rabbitmq")
