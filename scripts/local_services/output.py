"""Lines on standard output, whose reader may end (`| head`) while there is still work to do."""

import os
import sys


def print_line(line: str, end: str = "\n") -> None:
    """Print a line at once; once nobody reads any more, print nothing and continue."""
    try:
        print(line, end=end, flush=True)
    except BrokenPipeError:
        # What is still buffered could otherwise fail later.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
