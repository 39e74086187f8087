"""What every command shares: settings, and errors as one line. What not all of them use is in `connections`:
a process that needs neither a store nor prices starts without importing them."""

import asyncio
import getpass
import json
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import click
import uvloop
from aio_pika.exceptions import AMQPError

from app import settings as configuration
from app.kit import logging
from app.kit.control_characters import escape_control_characters
from app.kit.errors import Refusal
from app.sandbox.demonstration import DemoUnavailable
from app.sandbox.simulator.service_client import OperatorRequestFailed, SinkRefused
from app.settings import Settings

P = ParamSpec("P")
#: The type of what names a file to be read.
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_EXPECTED = (Refusal, DemoUnavailable, OperatorRequestFailed, SinkRefused, AMQPError, OSError)


def load_settings() -> Settings:
    """The settings in the environment, as every command needs them."""
    return configuration.load()


def actor() -> str:
    """The user who runs the command, for the audit."""
    return f"cli:{getpass.getuser()}"


def async_command(command: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a command's coroutine; an expected failure is printed as one line."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        logging.use_stderr()
        failed: BaseExceptionGroup[Exception] | None = None
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(command(*args, **kwargs))
        except* _EXPECTED as group:
            failed = group
        if failed is not None:
            raise click.ClickException(_first(failed)) from failed

    return run


def _first(group: BaseExceptionGroup[BaseException]) -> str:
    """The message of the first failure, however deep it is nested."""
    failure: BaseException = group
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return str(failure) or type(failure).__name__


def print_line(text: str) -> None:
    """Print what may contain what others have written, control characters escaped."""
    click.echo(escape_control_characters(text))


def print_list(lines: Sequence[str], otherwise: str) -> None:
    """Print a line for each item of a list; `otherwise` for an empty one."""
    for line in lines or [otherwise]:
        print_line(line)


def print_json(value: Any) -> None:
    """A result as JSON on standard output."""
    print_line(json.dumps(value, indent=2, ensure_ascii=False))
