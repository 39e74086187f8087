"""Has a day's files made as soon as the day is complete, by a process of its own: it computes for a while,
and the web process that starts it must answer meanwhile.

Every web process does so. Those of one machine share the directory, in which one process at a time makes
files; those of others have directories of their own, in which the same rows make the same bytes.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress

from app.domain.daily_files import last_complete_day
from app.files.directory import FileDirectory
from app.kit.clock import Clock
from app.kit.logging import get_logger

#: The command line makes what is missing, with the settings in the environment, as this process has them. Its
#: lines are in our log.
COMMAND = (sys.executable, "-m", "app.cli", "files", "make", "--json-log")
_EVERY_SECONDS = 300.0
log = get_logger(__name__)


async def make_daily(directory: FileDirectory, clock: Clock) -> None:
    """Have the files of each complete day made, until cancelled; not at once, for a process that starts has
    other work."""
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        await make_if_due(directory, clock)


async def make_if_due(directory: FileDirectory, clock: Clock, command: Sequence[str] = COMMAND) -> None:
    """Run the command if the last complete day has no files yet. What it says of a failure is on standard
    error; it is tried again."""
    day = last_complete_day(clock())
    if await asyncio.to_thread(directory.manifest, day):
        return
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
        raise
    if code:
        log.warning("daily files were not made; trying again", day=str(day), status=code)
