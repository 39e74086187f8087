from uuid import UUID

import msgspec
import pytest

from app.ingest.batch import Batch, from_message, headers

BATCH = Batch(
    id="m", match_id=UUID(int=9), number=3, arrived_at=5, body=b"\xff\n", instance="i", begin=0, end=2
)


@pytest.mark.parametrize("batch", [BATCH, msgspec.structs.replace(BATCH, instance="", begin=None, end=None)])
def test_a_batch_survives_its_message(batch: Batch) -> None:
    assert from_message(batch.id, headers(batch), batch.body) == batch


def test_a_message_that_is_no_batch_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_message("m", {"number": 1}, b"")
