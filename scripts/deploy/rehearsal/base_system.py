"""An empty Debian system, from the mirror that this machine's own package sources name."""

import subprocess
from pathlib import Path
from typing import Literal

from .networks import run

SUITE = "bookworm"


def bootstrap(root: Path, log: Path, variant: Literal["standard", "minbase"]) -> None:
    """What Debian's installer begins with, or as little as packages need (`minbase`)."""
    extent = ["--variant=minbase"] if variant == "minbase" else ["--include=dbus,ca-certificates"]
    mirror = package_sources()[0].split()[1]
    with log.open("ab") as output:
        command = ["debootstrap", *extent, SUITE, str(root), mirror]
        subprocess.run(command, check=True, stdout=output, stderr=output)


def package_sources() -> list[str]:
    """This machine's own sources of that release, as lines of sources.list; the release's first."""
    found = run(
        *("apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"),
        *("Created-By: Packages", "Origin: Debian"),
    )
    lines = sorted({line for line in found.splitlines() if line.split()[2].startswith(SUITE)}, key=len)
    if not lines or lines[0].split()[2] != SUITE:
        raise SystemExit(f"deploy: apt has no sources of Debian's {SUITE} here; apt-get update first")
    return lines
