"""What small programs on this package share, such as its examples: the file that they go on from, and how
they end."""

import asyncio
import hashlib
import os
import sys
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

_INTERRUPTED = 130  #: the status of a program that Ctrl-C has ended


def setting(name: str) -> str:
    """The variable of this name; ends the program with a sentence where it is not set."""
    if not (value := os.environ.get(name)):
        sys.exit(f"{name} is not set: docs/integrate.md says where it comes from")
    return value


def state_file(channel: str, api_key: str) -> Path:
    """The file of a program that follows this channel with this key: in the directory that the variable
    `MATCHFEED_STATE` names, else in one below the system's for temporary files."""
    named = os.environ.get("MATCHFEED_STATE")
    directory = Path(named) if named else Path(tempfile.gettempdir()) / "matchfeed-examples"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory / f"python-{channel}-{hashlib.sha256(api_key.encode()).hexdigest()[:8]}.json"


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run it until Ctrl-C, or until the end of what reads its output (`| head`)."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        asyncio.run(main)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        # Python writes what is left to the closed pipe at its end, and would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
