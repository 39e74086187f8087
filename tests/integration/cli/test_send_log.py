"""`match send-log` against a small HTTP server of the test's own."""

import gzip
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import UUID

import pytest

from app.access import log_tokens
from app.kit.heavy_work import run_in_thread
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.settings import Settings
from app.store import log_state
from app.store.log_state import LogSender
from tests.support.command_line import Run
from tests.support.story import Story


@dataclass
class Sink:
    """A log sink that refuses its first requests, and stores what it has accepted."""

    url: str = ""
    refusals: int = 2
    paths: set[str] = field(default_factory=set)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    instances: set[str] = field(default_factory=set)
    servers: set[str] = field(default_factory=set)
    body: bytes = b""

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        if self.refusals:
            self.refusals -= 1
            return 503
        self.paths.add(path)
        self.instances.add(headers["x-server-instance-token"])
        self.servers.add(headers["x-server-unique-token"])
        begin, end = (int(headers[f"x-logbytes-{name}offset"]) for name in ("begin", "end"))
        self.ranges.append((begin, end))
        self.body += body
        return 200


@pytest.fixture
def sink() -> Iterator[Sink]:
    sink = Sink()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = sink.take(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silent: the test looks at what was stored."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    sink.url = f"http://127.0.0.1:{server.server_port}"
    yield sink
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def match_id(story: Story) -> UUID:
    return (await story.match()).id


def test_every_byte_reaches_the_sink_in_order(
    run: Run, sink: Sink, match_id: UUID, settings: Settings, tmp_path: Path
) -> None:
    """Two hundred game minutes in a second: the bodies follow each other without a hole, and none is lost
    although the sink is away at first."""
    home, away = fictional_world().teams[:2]
    lines, _ = simulate(MatchPlan(home, away, 5, 1_790_000_000_000))
    text = "".join(f"{line.text}\n" for line in lines).encode()
    log = tmp_path / "server.log.gz"
    log.write_bytes(gzip.compress(text))
    result = run("match", "send-log", log, "--match", match_id, "--speed", 2000, "--base-url", sink.url)
    assert result.exit_code == 0, result.output
    assert sink.body == text
    begins, ends = zip(*sink.ranges, strict=True)
    assert begins == (0, *ends[:-1])
    assert len(sink.instances) == 1
    token = log_tokens.issue(settings.secret_key, match_id, 1)
    assert sink.paths == {f"/ops/v1/matches/{match_id}/log?token={token}"}
    assert f"sent {len(lines)} lines" in result.stdout


async def followed_by(story: Story, match_id: UUID, server: str) -> None:
    sender = LogSender(source="run-1", server=server, state="followed", first_seen=1, last_seen=2)
    async with story.store.transaction() as tx:
        await tx.write(log_state.save_senders(match_id, (sender,)))


async def test_another_server_than_the_followed_one_is_refused_and_told_how_to_go_on(
    run: Run, sink: Sink, story: Story, match_id: UUID, tmp_path: Path
) -> None:
    await followed_by(story, match_id, "hall-3")
    log = tmp_path / "server.log"
    log.write_text("L 01/19/2026 - 18:59:42: Starting Freeze period\n")
    command = ("match", "send-log", log, "--match", match_id, "--speed", 2000, "--base-url", sink.url)
    refused = await run_in_thread(run, *command)
    assert refused.exit_code == 1
    assert "add --server hall-3" in refused.output
    assert sink.body == b""
    result = await run_in_thread(run, *command, "--server", "hall-3", "--run", "second")
    assert result.exit_code == 0, result.output
    assert (sink.servers, sink.instances) == ({"hall-3"}, {"second"})
