"""`python -m tests.golden`: write every golden file anew and remove those that no sample explains."""

from tests.golden.files import DIRECTORY, SUFFIX
from tests.golden.samples import SAMPLES


def main() -> None:
    for path in DIRECTORY.glob(f"*{SUFFIX}"):
        if path.stem not in SAMPLES:
            path.unlink()
            print(f"removed {path.name}")
    for name, build in SAMPLES.items():
        path = DIRECTORY / f"{name}{SUFFIX}"
        body = build()
        if not path.exists() or path.read_bytes() != body:
            path.write_bytes(body)
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
