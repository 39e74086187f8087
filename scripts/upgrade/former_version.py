"""The version that is upgraded from: files from the repository's history, with its own pinned packages."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from scripts.local_services.processes import ServiceError, output_of

ROOT = Path(__file__).resolve().parents[2]
_RELEASED = re.compile(r"^## \[(\d+)\.(\d+).*\n\nCommit ([0-9a-f]{7,40})\b", re.MULTILINE)
_BASELINE = (0, 2)  #: the first version whose database later ones keep
_MAKE = ". scripts/environment.sh; make_environment"


def newest_release() -> str:
    """The commit of the newest version that CHANGELOG.md names; raises `ServiceError` where that is none that
    can be upgraded."""
    for major, minor, commit in _RELEASED.findall((ROOT / "CHANGELOG.md").read_text())[:1]:
        if (int(major), int(minor)) >= _BASELINE:
            return str(commit)
    raise ServiceError(
        "CHANGELOG.md names no version yet whose database this one keeps (0.2.0 or later): rehearse the "
        "upgrade from a commit (-- --commit HASH)"
    )


class FormerVersion:
    """An installation of that commit under `directory`, made unless it is there."""

    def __init__(self, directory: Path, commit: str) -> None:
        self.root, self._commit = directory, commit
        if not (directory / "app").is_dir():
            _export(directory, commit)
        subprocess.run(["bash", "-c", _MAKE], cwd=directory, check=True)

    @property
    def python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        """Run its Python with these arguments; what it prints. Raises `ServiceError` with its errors."""
        return output_of(
            f"{self._commit}: {' '.join(arguments)}",
            [self.python, *arguments],
            environment={**os.environ, **(environment or {})},
            directory=self.root,
        )


def _export(directory: Path, commit: str) -> None:
    known = subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT, check=False)
    if known.returncode:
        raise ServiceError(
            f"this clone has no commit {commit}: fetch the whole history (git fetch --unshallow)"
        )
    directory.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=directory, input=archive.stdout, check=True)
