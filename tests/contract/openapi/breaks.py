"""What of a changed document breaks its clients, as api-smart-diff judges it.

That differ is JavaScript, installed on first use from its pinned lock. Its verdict is ours but in two things
that it cannot know: a field that is gone breaks clients even where not every key sees it (it takes such
fields for optional), and so does any change of who may call a path.
"""

import tempfile
from pathlib import Path
from typing import Any

import msgspec

from tests.support import npm

Json = dict[str, Any]
_DIFFER = Path(__file__).parent / "differ"
_RIGHTS = ("security", "x-required-scopes", "x-sport", "x-operator-key")


class Difference(msgspec.Struct, frozen=True):
    """Where two documents differ; `type` is the differ's verdict, `action` add, remove or replace."""

    type: str
    action: str
    path: tuple[str | int, ...]

    @property
    def breaks(self) -> bool:
        if self.path[0] == "components":
            # Here the differ cannot know who sends and who reads; that it does where a shape is used, but
            # there it lets a reader's type change.
            return self.type == "breaking" and self.action == "replace"
        gone = self.action == "remove" and self.path[-2:-1] == ("properties",)
        rights = any(part in _RIGHTS for part in self.path[:4])
        return self.type == "breaking" or gone or rights

    def __str__(self) -> str:
        return f"{self.action} {'/'.join(map(str, self.path))}"


def breaks(before: Json, *after: Json) -> list[list[str]]:
    """For each document, every change from `before` to it that breaks clients, as text. Examples and
    descriptions are left out: nobody's client reads them."""
    place = npm.installed(_DIFFER)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.json") for number in range(len(after) + 1)]
        for file, document in zip(files, (before, *after), strict=True):
            file.write_bytes(msgspec.json.encode(_bare(document)))
        output = npm.run(npm.node(), str(place / "differ.mjs"), *map(str, files))
    found = msgspec.json.decode(output, type=list[list[Difference]])
    return [sorted({str(one) for one in each if one.breaks}) for each in found]


def _bare(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _bare(value) for key, value in node.items() if not _words(key, value)}
    return [_bare(item) for item in node] if isinstance(node, list) else node


def _words(key: str, value: Any) -> bool:
    return key == "example" or (key in ("description", "summary") and isinstance(value, str))
