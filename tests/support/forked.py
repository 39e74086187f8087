"""Our own processes without the seconds that Python takes to import them: each is forked from a process that
has done nothing else.

It is as separate as one that was started, its own memory, connections and signals, and it runs the same
command.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from app.cli import main

#: The commands that `support.preloaded` loads; what others load, they would load after all.
COMMANDS = ("serve", "ingest", "feed", "broker-authorisation")
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.preloaded"])


class Forked:
    """What `asyncio.subprocess.Process` has of it."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self._process.pid is None or self._process.exitcode is not None:
            raise ProcessLookupError
        os.kill(self._process.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    async def wait(self) -> int:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode


def fork(words: Sequence[str], directory: Path, environment: Mapping[str, str], log: Path) -> Forked:
    """`matchfeed` with these words in this directory, with this environment; it writes to `log`."""
    log.touch()
    process = _CONTEXT.Process(target=_run, args=(words, directory, dict(environment), log), daemon=True)
    process.start()
    return Forked(process)


def _run(words: Sequence[str], directory: Path, environment: Mapping[str, str], log: Path) -> None:
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    with log.open("wb") as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
    main(list(words), prog_name="matchfeed")
