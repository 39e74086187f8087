"""Where published data lies: beside the checkout, never in it."""

import hashlib
import os
import sys
from pathlib import Path

from app.trading.coefficients import DataSet

ROOT = Path(__file__).resolve().parents[2]


def real_data() -> Path:
    """The folder of published data; ends the program with what is needed when there is none."""
    folder = Path(os.environ.get("MATCHFEED_DATA", ROOT.parent / "shared" / "data")) / "real"
    if not folder.is_dir():
        sys.exit(
            f"needs published data of real play (docs/pricing.md says which); {folder} is missing "
            "(or set MATCHFEED_DATA to the folder that holds real/)"
        )
    return folder


def data_set(path: Path, rows: int, dates: str) -> DataSet:
    """What coefficients say about a file that they were fitted to."""
    return DataSet(path.name, rows, dates, hashlib.sha256(path.read_bytes()).hexdigest())
