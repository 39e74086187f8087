"""The runs of one game server, sent over HTTP as it sends them."""

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from tests.support.eventually import eventually
from tests.support.logs import cut

LINES_A_BODY = 100


async def send(client: httpx.AsyncClient, sink: str, runs: Sequence[str]) -> None:
    """Each run has a token of its own, and its offsets begin at 0."""
    for number, run in enumerate(runs, start=1):
        offset = 0
        for body in cut(run.encode(errors="surrogateescape"), LINES_A_BODY):
            headers = {
                "X-Server-Unique-Token": "server",
                "X-Server-Instance-Token": f"run-{number}",
                "X-Logbytes-Beginoffset": str(offset),
                "X-Logbytes-Endoffset": str(offset + len(body)),
            }
            offset += len(body)

            async def post(content: bytes = body, headers: dict[str, str] = headers) -> int:
                return (await client.post(sink, content=content, headers=headers)).status_code

            await eventually(post, lambda status: status == 200)


def variants(data: Path, log: str) -> Iterator[tuple[str, list[str]]]:
    """The real log as servers write it when things go wrong, by name: the runs of each."""
    yield from _variants_of(data).variants(log.replace("\r\n", "\n"))


def _variants_of(data: Path) -> ModuleType:
    """The program beside the checkout that makes them; skips where it is missing."""
    program = data / "log_variants.py"
    spec = importlib.util.spec_from_file_location("log_variants", program)
    if not program.exists() or spec is None or spec.loader is None:
        pytest.skip(f"needs the program that makes variants of the real log; {program} is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
