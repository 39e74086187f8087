"""The examples of the clients in each language: they end quietly, store what they have where their page says,
and go on from there."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from scripts import golang
from tests.certification.runs import TYPESCRIPT
from tests.support import npm
from tests.support.processes import ROOT

_SECONDS = 60.0
_INTERRUPTED = 130


def _python() -> list[str]:
    return [sys.executable, str(ROOT / "scripts" / "client" / "examples" / "pages.py")]


@cache
def _typescript() -> list[str]:
    npm.built(TYPESCRIPT)
    npm.script(TYPESCRIPT, "check")
    return [npm.node(), str(TYPESCRIPT / "build" / "examples" / "http.js")]


@cache
def _go() -> list[str]:
    return [str(golang.built("./examples/pages") / "pages")]


LANGUAGES: dict[str, Callable[[], list[str]]] = {"python": _python, "typescript": _typescript, "go": _go}


class Service(ThreadingHTTPServer):
    """Answers each request for changes at once with `alive`; `begun` are the places that were requested."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.begun: list[str | None] = []
        self.address = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A program that has ended has cut its connections."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        body: dict[str, object] = {"data": [], "meta": {}}
        if target.path == "/cs2/v1/changes":
            since = parse_qs(target.query).get("since_seq", [None])[0]
            self.server.begun.append(since)
            meta = {"ts": "2031-01-01T00:00:00Z", "seq": 7, "snapshot": since is None}
            alive = {"type": "alive", "data": {}, "meta": meta}
            body = {"data": [alive], "meta": {"more": False, "next_since_seq": 7}}
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *arguments: object) -> None:
        return


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as found:
        serving = threading.Thread(target=found.serve_forever)
        serving.start()
        yield found
        found.shutdown()
        serving.join()


@contextmanager
def running(
    command: Sequence[str], service: Service, directory: Path, **variables: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """The example, once it has printed a line; it has ended when the block has."""
    place = directory / "here"
    place.mkdir(exist_ok=True)
    paths = {"PYTHONPATH": str(ROOT / "scripts" / "client"), "TMPDIR": str(directory)}
    process = subprocess.Popen(
        command,
        cwd=place,
        env=os.environ | paths | {"BASE_URL": service.address, "API_KEY": "key"} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"alive 0 markets are open\n"
        yield process
    finally:
        process.kill()
        process.communicate()
        assert not list(place.iterdir()), "nothing is stored where it was called"


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    """Its status, and what it said of its end."""
    assert process.stderr is not None
    said = process.stderr.read()
    return process.wait(_SECONDS), said


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_closed_pipe_and_ctrl_c_end_an_example_quietly(
    service: Service, tmp_path: Path, language: str
) -> None:
    command = LANGUAGES[language]()
    with running(command, service, tmp_path) as process:
        assert process.stdout is not None
        process.stdout.close()
        status, said = ended(process)
        assert status in (0, -signal.SIGPIPE) and said == b""
        process.stdout = None
    with running(command, service, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        process.stdout.read()
        assert ended(process) == (_INTERRUPTED, b"")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_goes_on_from_a_file_in_a_place_of_its_own(
    service: Service, tmp_path: Path, language: str
) -> None:
    command = LANGUAGES[language]()
    for number, variables in enumerate(({}, {"MATCHFEED_STATE": str(tmp_path / "named")})):
        directory = tmp_path / ("named" if variables else "matchfeed-examples")
        for since in (None, "7"):
            service.begun.clear()
            with running(command, service, tmp_path, **variables) as process:
                process.send_signal(signal.SIGINT)
                assert process.stdout is not None
                process.stdout.read()
                assert ended(process)[0] == _INTERRUPTED
            assert service.begun[0] == since, number
        [file] = directory.iterdir()
        assert file.name.startswith(f"{language}-") and file.suffix == ".json"
