"""A client is not blamed for what it cannot know."""

from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from app.sandbox.certification.clients import Clients, Received
from app.sandbox.certification.evidence import Evidence
from app.sandbox.certification.reports import Report
from app.sandbox.certification.stage import Inconclusive, Stage


class _Behind:
    """A service of which not everything is published yet."""

    async def caught_up(self) -> bool:
        return False


async def test_a_service_that_publishes_nothing_says_nothing_about_the_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sandbox.certification.stage._PUBLISHED_SECONDS", 0.0)
    clients = Clients("", tmp_path, lambda number: {})
    clients.received[1] = Received(Report(()), 0.0)
    unused = cast(Any, None)
    stage = Stage(
        "amqp", cast(Any, _Behind()), unused, unused, unused, clients, unused, Evidence(), Random(1), 0.0
    )  # fmt: skip
    with pytest.raises(Inconclusive, match="published"):
        await stage.agree()
