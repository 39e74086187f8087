"""`python -m tests.contract.openapi`: record the documents anew, with examples of what is returned.

A change that breaks a client is refused, unless `--breaking` permits it. Examples that were
recorded before stay as long as they fit; `--anew` makes all of them again.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path

import msgspec

from app.http.openapi.document import EXAMPLES, Examples, recorded_examples
from scripts.services import Services
from tests.contract.openapi import recording
from tests.contract.openapi.breaks import breaks
from tests.contract.openapi.present import RECORDED, Json, fits, made, operations
from tests.support import databases
from tests.support import services as support


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--breaking", action="store_true", help="a change that breaks clients is meant")
    options.add_argument("--anew", action="store_true", help="make every example again")
    arguments = options.parse_args()
    documents = made()
    broken = (
        [] if arguments.breaking else [each for name in documents for each in _broken(name, documents[name])]
    )
    if broken:
        sys.exit("This breaks clients (--breaking if it is meant):\n  " + "\n  ".join(broken))
    with support.running(os.environ.get(support.SHARED)) as found:
        recorded = asyncio.run(_examples(found, documents))
    _write(EXAMPLES, recorded if arguments.anew else recorded | _still_good(recorded))
    for name, document in made().items():
        _write(RECORDED[name], document)


def _broken(name: str, document: Json) -> list[str]:
    """What breaks clients of the document that was recorded last."""
    place = RECORDED[name]
    if not place.exists():
        return []
    [found] = breaks(msgspec.json.decode(place.read_bytes()), document)
    return found


async def _examples(found: Services, documents: dict[str, Json]) -> dict[str, Examples]:
    template = await databases.make_template(found.database_url)
    try:
        async with databases.copied(found.database_url, template) as url:
            return await recording.examples(support.settings_for(found, url), documents)
    finally:
        await databases.drop(found.database_url, template)


def _still_good(recorded: dict[str, Examples]) -> dict[str, Examples]:
    """Those recorded before that are what the operations answer today, in the same formats."""
    before, good = recorded_examples(), {}
    for document in made().values():
        for _, _, operation in operations(document):
            name = operation["operationId"]
            answers = before.get(name, {})
            if set(answers) == set(recorded.get(name, {})) and fits(document, operation, answers):
                good[name] = answers
    return good


def _write(path: Path, content: object) -> None:
    body = msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
    if not path.exists() or path.read_bytes() != body:
        path.write_bytes(body)
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
