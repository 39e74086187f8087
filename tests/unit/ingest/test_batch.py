from uuid import UUID

import msgspec
import pytest
from pamqp import commands, header

from app.ingest.batches import Batch, from_message, headers, stated_range

BATCH = Batch(
    id="m", match_id=UUID(int=9), number=3, arrived_at=5, body=b"\xff\n", instance="i", begin=0, end=2
)


@pytest.mark.parametrize("batch", [BATCH, msgspec.structs.replace(BATCH, instance="", begin=None, end=None)])
def test_a_batch_survives_its_message(batch: Batch) -> None:
    assert from_message(batch.id, headers(batch), batch.body) == batch


def test_a_message_that_is_no_batch_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_message("m", {"number": 1}, b"")


@pytest.mark.parametrize(
    ("begin", "end", "size", "believed"),
    [
        (100, 200, 100, True),
        (0, 0, 0, True),
        (100, 210, 100, True),
        (100, 10**17, 100, False),
        (200, 100, 100, False),
        (None, 200, 100, False),
        (100, None, 100, False),
    ],
)
def test_a_range_is_believed_only_when_it_can_be_the_body_s(
    begin: int | None, end: int | None, size: int, believed: bool
) -> None:
    assert stated_range(begin, end, size) == ((begin, end) if believed else (None, None))


def test_a_sender_s_name_fits_into_one_frame_however_long_it_is() -> None:
    """All headers of a message go in one frame; one beyond the broker's limit ends the connection."""
    one = msgspec.structs.replace(BATCH, instance="a" * 250_000)
    other = msgspec.structs.replace(BATCH, instance="a" * 249_999 + "b")
    written = [
        header.ContentHeader(0, 1, commands.Basic.Properties(headers=headers(each))) for each in (one, other)
    ]
    assert max(len(each.marshal()) for each in written) < 4096
    assert headers(one) == headers(one)
    assert headers(one)["instance"] != headers(other)["instance"], "two runs of a server stay two"


def test_offsets_beyond_what_a_header_can_hold_are_not_believed() -> None:
    assert stated_range(2**63 - 2, 2**63 - 1, 1) == (2**63 - 2, 2**63 - 1)
    assert stated_range(2**63 - 1, 2**63, 1) == (None, None)
