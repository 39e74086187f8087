"""A demo or a client goes on when the reader of its output stops reading (`| head`)."""

import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

#: One line to be read, then as many as fill any pipe.
PRINTING = """
from scripts.local_services.output import print_line
for number in range(100_000):
    print_line(f"line {number}")
raise SystemExit(7)
"""
CLIENT = (
    "scripts/consumer.py",
    "amqp://op-nobody:nothing@127.0.0.1:1/nobody",
)  #: says that it finds no broker


def unread(*program: str) -> tuple[int, bytes]:
    """Status and complaints of a program whose first line is read and no other."""
    running = subprocess.Popen(
        [sys.executable, *program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with running:
        assert running.stdout and running.stderr
        assert running.stdout.readline()
        running.stdout.close()
        complaints = running.stderr.read()
    return running.returncode, complaints


def test_work_goes_on_when_nobody_listens() -> None:
    assert unread("-c", PRINTING) == (7, b"")


def test_a_client_ends_quietly_when_nobody_reads_on() -> None:
    status, complaints = unread(*CLIENT)
    assert status == -signal.SIGPIPE
    assert b"BrokenPipe" not in complaints and b"Traceback" not in complaints
