"""`matchfeed recompute` as a stranger runs it: with our code and nothing else."""

import subprocess
import sys
from pathlib import Path

from tests.support.processes import ROOT


def recompute_file(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What it says about a file, in an environment without any setting."""
    command = [sys.executable, "-m", "app.cli", "recompute", str(file), *options]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
