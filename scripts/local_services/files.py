"""Files that hold secrets and are replaced as a whole."""

import os
from pathlib import Path


def replace(file: Path, content: bytes) -> None:
    """Write it for its owner only, and so that a reader sees the old content or the new one."""
    draft = file.with_suffix(".new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
        target.write(content)
    draft.replace(file)
