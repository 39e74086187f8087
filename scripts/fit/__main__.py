"""Fit every section, or those that are named, and write the file of coefficients.

nox -s fit                      all of them
python -m scripts.fit rounds    one; the rest of the file stays as it is
"""

import argparse
from importlib import import_module
from pathlib import Path

import msgspec

from app.trading.coefficients import DataSet, load
from scripts.reality.place import ROOT, real_data

FILE = ROOT / "app" / "trading" / "coefficients.json"
#: In the order in which they build on each other.
SECTIONS = ("rounds", "maps", "ratings", "market", "players", "kills")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    chosen = parser.parse_args().sections or SECTIONS
    known = read(FILE)
    for section in SECTIONS:
        if section in chosen:
            known = with_section(known, section, real_data())
            FILE.write_bytes(written(known))
            load.cache_clear()
            print(f"{section}: fitted")


def read(path: Path) -> dict[str, object]:
    """The sections so far; none when the file is missing."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, object]) if path.exists() else {}


def with_section(known: dict[str, object], section: str, data: Path) -> dict[str, object]:
    """The sections with this one fitted anew, and the data sets that it used."""
    found, used = import_module(f"scripts.fit.{section}").fit(data)
    before = msgspec.convert(known.get("data", ()), tuple[DataSet, ...])
    sets = {one.name: one for one in (*before, *used)}
    return {**known, section: found, "data": [sets[name] for name in sorted(sets)]}


def written(sections: dict[str, object]) -> bytes:
    """The file's text: sections by name, numbers as rounded by the fits."""
    text = msgspec.json.encode(dict(sorted(sections.items())))
    return msgspec.json.format(text, indent=1) + b"\n"


if __name__ == "__main__":
    main()
