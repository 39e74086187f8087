"""A Redis of a test's own, which it may stop and start again."""

import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

from scripts.local_services import valkey
from tests.support.ports import spare


class PrivateRedis:
    """A server on a free port of the loopback address; ended with the block whatever state it is in."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        [self.port] = spare(1)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and wait until it answers."""
        where = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._directory))
        quiet = ("--save", "", "--appendonly", "no")
        self._process = subprocess.Popen([valkey.binary(), *where, *quiet], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while not self._answers():
            assert time.monotonic() < deadline, "the private Redis does not start"

    def stop(self) -> None:
        """End it; nothing happens when it is not running."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.wait(10)

    def freeze(self, frozen: bool = True) -> None:
        """Let it hang, connections and all, or go on."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 0.2) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self.freeze(False)
        self.stop()
