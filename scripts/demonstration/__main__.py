"""The supervisor as a process: `scripts/demo.py` becomes it, or starts it in a session of its own.

python -m scripts.demonstration --port 8000 [--reset] [--quiet]     (--quiet: for a log, no keys, no board)
"""

import argparse
import sys
from contextlib import ExitStack

import msgspec

from scripts.demonstration import supervisor
from scripts.demonstration.paths import DESCRIPTION
from scripts.demonstration.terminal import Board
from scripts.demonstration.welcome import welcome
from scripts.local_services.output import print_line
from scripts.local_services.processes import ServiceError


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.demonstration")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--reset", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    try:
        if options.quiet or not sys.stdout.isatty():
            ready = _print_ready if options.quiet else welcome
            supervisor.run(options.port, reset=options.reset, notify=print_line, ready=ready)
        else:
            _with_board(options)
    except ServiceError as error:
        raise SystemExit(f"demo: {error}") from error


def _print_ready() -> None:
    """In the log there are no keys."""
    print_line("ready")


def _with_board(options: argparse.Namespace) -> None:
    """In a terminal the demo ends in the board; lines are printed below it."""
    with ExitStack() as stack:
        boards: list[Board] = []

        def notify(line: str) -> None:
            boards[0].notify(line) if boards else print_line(line)

        def ready() -> None:
            welcome()
            demo = msgspec.json.decode(DESCRIPTION.read_bytes())
            boards.append(Board(demo["base_url"], demo["board"]["api_key"], demo["board"]["url"]))
            stack.enter_context(boards[0].shown())

        supervisor.run(options.port, reset=options.reset, notify=notify, ready=ready)


if __name__ == "__main__":
    main()
