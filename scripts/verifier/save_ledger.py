"""Save the API's answers for verify_ledger.py, with Python's standard library alone.

    python save_ledger.py --url https://feed.example.com --key KEY --directory DIRECTORY

Run it again to go on. What was saved before stays: texts of leaves that the API does not show any more, and
settlements. An answer that contradicts it is a fault, and is saved beside it.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

Json = Any
_PAGE, _SETTLEMENTS = 1000, 200
_MOST_SECONDS = 4200  #: between two heads


def read(path: Path) -> list[Json]:
    return json.loads(path.read_bytes())["data"] if path.exists() else []


def write(path: Path, found: list[Json]) -> None:
    path.write_text(json.dumps({"data": found}))


def extend(path: Path, found: list[Json]) -> None:
    """Replace a page of heads or leaves by one that has the same rows, and perhaps more."""
    saved = read(path)
    for old, new in zip(saved, [*found, *[{}] * len(saved)], strict=False):
        if old["hash"] != new.get("hash"):
            write(path.with_suffix(".other"), found)
            place = [old.get(name) for name in ("number", "day", "index") if name in old]
            sys.exit(
                f"fault: {path.name}: {place} was another one when it was saved, or is not there any more. "
                f"The answer is in {path.stem}.other. If a head of the kind `restored` explains it, go on "
                "with an empty directory."
            )
    write(path, [old | new for old, new in zip(saved, found, strict=False)] + found[len(saved) :])


def download(url: str, key: str, directory: Path) -> None:
    """Save keys before heads, heads before settlements, and these before leaves: what one says of the other
    is then in the later answer."""

    def get(path: str) -> list[Json]:
        while True:
            try:
                request = Request(url.rstrip("/") + path, headers={"X-API-Key": key})
                return list(json.loads(urlopen(request, timeout=60).read())["data"])
            except HTTPError as error:
                if error.code != 429:
                    sys.exit(f"{path}: {error.code} {error.read().decode()}")
                time.sleep(int(error.headers.get("Retry-After", "1")))

    write(directory / "keys.json", get("/v1/ledger/keys"))
    heads: list[Json] = []
    while not len(heads) % _PAGE:
        found = get(f"/v1/ledger/heads?after={len(heads)}&limit={_PAGE}")
        extend(directory / f"heads-{len(heads):012}.json", found)
        heads += [json.loads(view["head"]) for view in found]
        if not found:
            break
    if not heads:
        sys.exit("there is no head yet")
    if (age := time.time() - heads[-1]["time"] / 1000) > _MOST_SECONDS:
        print(f"note: the newest head is {age / 60:.0f} minutes old")
    pages = sorted(directory.glob("settlements*.json"))
    after = max((row["id"] for path in pages for row in read(path)), default=heads[0]["through"])
    while found := get(f"/cs2/v1/settlements?since_id={after}&limit={_SETTLEMENTS}"):
        write(directory / f"settlements-{after:020}.json", found)
        after = found[-1]["id"]
    for day in sorted({head["day"] for head in heads}):
        first = 0
        while not first % _PAGE:  # with leaves that no head covers yet
            found = get(f"/v1/ledger/leaves?day={day}&from={first}&limit={_PAGE}")
            extend(directory / f"leaves-{day}-{first:012}.json", found)
            if not found:
                break
            first += len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Save the signed ledger.")
    parser.add_argument("--url", required=True, help="of the API")
    parser.add_argument("--key", required=True, help="the API key")
    parser.add_argument("--directory", type=Path, default=Path("ledger"), help="where to save it")
    args = parser.parse_args()
    args.directory.mkdir(parents=True, exist_ok=True)
    download(args.url, args.key, args.directory)


if __name__ == "__main__":
    main()
