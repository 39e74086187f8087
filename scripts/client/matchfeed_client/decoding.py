"""From bytes to typed messages."""

import re
from typing import Any, TypeAlias

from xsdata.exceptions import ParserError
from xsdata.formats.dataclass.context import XmlContext
from xsdata.formats.dataclass.parsers import XmlParser
from xsdata.formats.dataclass.parsers.config import ParserConfig
from xsdata.formats.dataclass.parsers.handlers import XmlEventHandler

from matchfeed_client import messages

Message: TypeAlias = (
    messages.Alive
    | messages.OddsChange
    | messages.BetStop
    | messages.BetSettlement
    | messages.BetCancel
    | messages.RollbackBetSettlement
    | messages.RollbackBetCancel
    | messages.FixtureChange
    | messages.SnapshotComplete
)
_TYPES: dict[bytes, type[Any]] = {
    b"alive": messages.Alive,
    b"odds_change": messages.OddsChange,
    b"bet_stop": messages.BetStop,
    b"bet_settlement": messages.BetSettlement,
    b"bet_cancel": messages.BetCancel,
    b"rollback_bet_settlement": messages.RollbackBetSettlement,
    b"rollback_bet_cancel": messages.RollbackBetCancel,
    b"fixture_change": messages.FixtureChange,
    b"snapshot_complete": messages.SnapshotComplete,
}
_ROOT = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?<([a-z_]+)")
#: Attributes and elements that a later version adds are passed over.
_PARSER = XmlParser(
    config=ParserConfig(
        fail_on_unknown_properties=False,
        fail_on_unknown_attributes=False,
        fail_on_converter_warnings=True,
    ),
    context=XmlContext(),
    handler=XmlEventHandler,
)


def decode(body: bytes) -> Message | None:
    """The message in `body`; None for a kind that this version of the client does not know.

    Raises `ValueError` for what is no XML, or lacks what the schema requires.
    """
    root = _ROOT.match(body)
    if root is None:
        raise ValueError("no XML element")
    kind = _TYPES.get(root[1])
    if kind is None:
        return None
    try:
        found: Message = _PARSER.from_bytes(body, kind)
    except (ParserError, TypeError, SyntaxError) as error:
        raise ValueError(f"{root[1].decode()}: {error}") from error
    return found
