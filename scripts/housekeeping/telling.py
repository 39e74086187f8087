"""Lines for whoever started us, who may stop listening (`| head`) while there is work to go on with."""

import os
import sys


def tell(line: str, end: str = "\n") -> None:
    """Print a line at once; once nobody listens, say nothing more and go on."""
    try:
        print(line, end=end, flush=True)
    except BrokenPipeError:
        fall_silent()


def fall_silent() -> None:
    """What is still to be written goes nowhere, so that nobody trips over it later."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
