"""Lists of the management API while the broker's nodes come and go."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from app.broker import management_api
from app.broker.management import Management
from app.kit.errors import Unavailable

LISTS: list[Callable[[Management], Awaitable[object]]] = [
    Management.nodes,
    Management.vhosts,
    Management.user_tags,
    Management.permissions,
    Management.topic_permissions,
    Management.user_limits,
    Management.exchanges,
    Management.inventory,
    Management.user_connections,
]
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
EMPTY = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
KEPT = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]"
NAMELESS = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\n[{}]"


@asynccontextmanager
async def answering(response: bytes, pause: float = 0) -> AsyncIterator[Management]:
    """A node that answers every request so; with a pause, byte by byte."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                for part in [bytes([byte]) for byte in response] if pause else [response]:
                    await asyncio.sleep(pause)
                    writer.write(part)
                    await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        async with Management(f"http://guest:guest@127.0.0.1:{port}") as management:
            yield management


@pytest.mark.parametrize("response", [NOT_FOUND, EMPTY], ids=["not found", "empty"])
@pytest.mark.parametrize("listing", LISTS, ids=lambda each: each.__name__)
async def test_a_list_that_a_node_does_not_have_yet_is_unavailable(
    listing: Callable[[Management], Awaitable[object]], response: bytes
) -> None:
    async with answering(response) as management:
        with pytest.raises(Unavailable, match="no list"):
            await listing(management)


async def test_a_list_that_is_not_complete_is_unavailable() -> None:
    async with answering(NAMELESS) as management:
        with pytest.raises(Unavailable, match="not complete"):
            await management.inventory()


async def test_a_kept_connection_that_closes_under_a_request_is_no_failure_of_the_node() -> None:
    """The node answers one request a connection and closes it at the second, as its HTTP server does with
    a connection that has been idle for too long."""
    connections = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(KEPT)
            await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        async with Management(f"http://guest:guest@127.0.0.1:{port}") as management:
            assert [await management.vhosts() for _ in range(3)] == [[], [], []]
    assert connections == 3


async def test_a_request_that_waits_for_its_turn_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node whose responses arrive, slowly, for longer than one may be silent."""
    monkeypatch.setattr(management_api, "_SECONDS", 0.5)
    monkeypatch.setattr(management_api, "_CONNECTIONS", 1)
    async with answering(KEPT, pause=1.2 / len(KEPT)) as management:
        assert await asyncio.gather(management.vhosts(), management.vhosts()) == [[], []]
