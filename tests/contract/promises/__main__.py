"""`nox -s promises`: record what is promised by name; `--breaking` permits what breaks."""

import argparse
import sys

from tests.contract.promises.present import RECORDED, broken, promised


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--breaking", action="store_true", help="what is gone or changed is meant to be")
    present = promised()
    if not options.parse_args().breaking and (gone := broken(RECORDED.read_text().splitlines(), present)):
        sys.exit("This breaks who relies on it (--breaking if it is meant):\n  " + "\n  ".join(gone))
    RECORDED.write_text("\n".join(present) + "\n")


if __name__ == "__main__":
    main()
