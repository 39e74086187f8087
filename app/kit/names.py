"""Names in input, of teams, events, sources and requests: one line of at most 120 characters, not blank.

They stand in XML attributes, cells of tables and lines of logs. Input whose name is another is refused.
"""

from typing import Annotated

from msgspec import Meta

#: Python's `$` also matches before a line break at the end; ECMA 262, which JSON Schema means, does not.
NAME = r"^[^\t\n\r]*\S[^\t\n\r]*$(?!\n)"
Name = Annotated[str, Meta(min_length=1, max_length=120, pattern=NAME)]
_MISFIT = f"Expected `str` matching regex {NAME!r}"


def explained(what: str) -> str:
    """msgspec's message about a value, with what a name must be instead of its pattern."""
    return what.replace(_MISFIT, "Expected a name: one line that is not blank")
