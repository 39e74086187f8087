"""What is logged while the pool cannot replace a connection."""

import logging
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.settings import Settings
from app.store import connections
from app.store.connections import open_store
from tests.support.eventually import eventually, succeeds
from tests.support.route import Route

DRIVER, OURS = "asyncpg.pool", "app.store.connections"


async def test_a_database_that_is_away_is_one_line_without_a_traceback(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "log", get_logger(OURS))  # one that no earlier test has configured
    parts = urlsplit(settings.database_url)
    login = parts.netloc.rpartition("@")[0]
    async with Route(parts.hostname or "127.0.0.1", parts.port or 5432).open() as route:
        netloc = f"{login}@127.0.0.1:{route.port}" if login else f"127.0.0.1:{route.port}"
        async with await open_store(parts._replace(netloc=netloc).geturl(), 1) as store:
            with capture_logs() as lines:
                await route.cut()
                await eventually(lambda: [each for each in lines if each["module"] == OURS])
                await route.restore()
                await eventually(lambda: succeeds(store.check(), Unavailable))
    shown = [each for each in lines if each["module"] == OURS]
    assert {each["log_level"] for each in shown} == {"warning"}
    assert all("ConnectionRefusedError" in each["error"] and "exc_info" not in each for each in shown)
    assert not [each for each in caplog.records if each.name == DRIVER]


async def test_any_other_error_keeps_its_traceback(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with await open_store(settings.database_url, 1):
        try:
            raise LookupError("no codec")
        except LookupError:
            logging.getLogger(DRIVER).warning("not opened", exc_info=True)
    [record] = [each for each in caplog.records if each.name == DRIVER]
    assert record.exc_info and record.exc_info[0] is LookupError
