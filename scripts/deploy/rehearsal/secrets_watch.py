"""Whether secrets show where they must not: in any process's arguments, in logs, in what commands print."""

import threading
from pathlib import Path

_SECONDS = 0.02


class Arguments:
    """The arguments of every process that runs while the block does, as far as they are seen every 20 ms."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Arguments":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        known: set[str] = set()
        while not self._over.wait(_SECONDS):
            present = {each.name for each in Path("/proc").iterdir() if each.name.isdigit()}
            for process in present - known:
                try:
                    self.seen.add(Path("/proc", process, "cmdline").read_bytes())
                except OSError:
                    continue  # it has ended already
            known = present

    def with_any(self, secrets: set[str]) -> list[bytes]:
        """The arguments that contain one of the secrets."""
        return [each for each in self.seen if any(secret.encode() in each for secret in secrets)]


def files_with_any(directory: Path, secrets: set[str]) -> list[str]:
    """The files below the directory that contain one of the secrets."""
    files = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return [str(path) for path in files if any(secret.encode() in path.read_bytes() for secret in secrets)]
