"""The commands of docs/deploy.md, so that page and rehearsal cannot differ.

A block that begins with ```` ```sh here ```` is run on the administrator's computer, one that begins with
```` ```sh server ```` on the server, in the page's order. Other blocks are not run.
"""

import re
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "deploy.md"
_PARTS = re.compile(
    r"^##+ (?P<title>[^\n]+)$|^```sh (?P<where>here|server)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(msgspec.Struct, frozen=True):
    """Commands that are run together, under the page's `title`."""

    title: str
    where: str
    text: str

    def commands(self) -> list[str]:
        """Its commands, continued lines joined, without remarks."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if line.strip() and not line.startswith("#")]


def blocks(text: str) -> list[Block]:
    """The blocks of a page, in its order."""
    found, title = [], ""
    for part in _PARTS.finditer(text):
        title = part["title"] or title
        if part["where"]:
            found.append(Block(title, part["where"], part["text"]))
    return found
