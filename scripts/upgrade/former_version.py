"""The version that is upgraded from: files from the repository's history, with its own pinned packages."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from scripts.local_services.processes import ServiceError, output_of

ROOT = Path(__file__).resolve().parents[2]
#: CHANGELOG.md names the commit of each version. This one is the last before the first change of the next
#: version, the migration of the alerts (b6d988a).
VERSION, COMMIT = "0.1.0", "1c3771e"
_MAKE = ". scripts/environment.sh; make_environment"


class FormerVersion:
    """An installation of it under `directory`, made unless it is there."""

    def __init__(self, directory: Path) -> None:
        self.root = directory
        if not (directory / "app").is_dir():
            _export(directory)
        subprocess.run(["bash", "-c", _MAKE], cwd=directory, check=True)

    @property
    def python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        """Run its Python with these arguments; what it prints. Raises `ServiceError` with its errors."""
        return output_of(
            f"{VERSION}: {' '.join(arguments)}",
            [self.python, *arguments],
            environment={**os.environ, **(environment or {})},
            directory=self.root,
        )


def _export(directory: Path) -> None:
    known = subprocess.run(["git", "cat-file", "-e", f"{COMMIT}^{{commit}}"], cwd=ROOT, check=False)
    if known.returncode:
        raise ServiceError(
            f"this clone has no commit {COMMIT}, which is version {VERSION}: fetch the whole history "
            "(git fetch --unshallow)"
        )
    directory.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", COMMIT], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=directory, input=archive.stdout, check=True)
