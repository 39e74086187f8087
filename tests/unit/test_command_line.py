"""The command line loads what a command needs, when it is looked up."""

import gc
import subprocess
import sys

from app.cli import main
from app.kit import garbage_collection

_LOADED = """
import sys
from app.cli import main
main.commands[sys.argv[1]]
print("app.main" in sys.modules)
"""


def loads_the_web_process(command: str) -> bool:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, command], capture_output=True, text=True, check=True
    )
    return done.stdout == "True\n"


def test_only_the_web_process_loads_the_web_process() -> None:
    """The others would start in twice the time."""
    assert loads_the_web_process("serve")
    assert not loads_the_web_process("ingest")


def test_every_command_is_where_the_table_says() -> None:
    assert len(main.commands) > 30
    for name, command in main.commands.items():
        assert command.name == name and command.help


def test_garbage_is_collected_again_after_a_pause() -> None:
    with garbage_collection.paused():
        assert not gc.isenabled()
        with garbage_collection.paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
