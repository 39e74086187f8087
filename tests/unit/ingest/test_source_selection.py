"""The line that is stored of a sender has no addresses and secrets; which senders are the same server."""

from uuid import UUID

import pytest
from msgspec.structs import replace

from app.ingest import source_selection
from app.ingest.batch import Batch


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '"a<2><[U:1:5]><>" connected, address "203.0.113.7:5"',
            '"a<2><[U:1:5]><>" connected, address "…:5"',
        ),
        ('rcon from "203.0.113.7:5": command "rcon_password abc"', "rcon…"),
        ('server_cvar: "sv_password" "abc"', 'server_cvar: "sv_password…'),
        ("x\x07\u202ey", "xy"),
        ("z" * 500, "z" * 200),
    ],
)
def test_the_last_line_is_short_and_without_secrets(line: str, expected: str) -> None:
    assert source_selection.last_line(f"first\n{line}\r\n".encode()) == expected


def _batch(address: str = "", unique: str = "") -> Batch:
    peer = "198.51.100.1"
    batch = Batch(id="b", match_id=UUID(int=1), number=1, arrived_at=1, body=b"", peer=peer)
    return replace(batch, address=address, unique=unique)


def test_a_server_is_identified_by_its_address_or_else_its_token_or_peer() -> None:
    assert source_selection.server_of(_batch(address="203.0.113.5:27015", unique="u")) == "203.0.113.5:27015"
    assert source_selection.server_of(_batch(address="0.0.0.0:27015", unique="u")) == "u"
    assert source_selection.server_of(_batch(address="0.0.0.0:27015")) == "198.51.100.1 0.0.0.0:27015"
    assert source_selection.server_of(_batch()) == "198.51.100.1"
