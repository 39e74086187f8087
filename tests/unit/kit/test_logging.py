"""What is logged holds no secret."""

import logging
from collections.abc import Iterator
from secrets import token_hex

import pytest
import structlog

from app.kit.logging import RedactingFilter, configure, get_logger, use_stderr


@pytest.fixture(params=[None, "CRITICAL"], ids=["first", "after another configuration"])
def plain_text(request: pytest.FixtureRequest) -> Iterator[None]:
    before = structlog.get_config()
    if request.param is not None:
        configure("web", level=request.param)
    use_stderr()
    yield
    structlog.configure(**before)


@pytest.mark.usefixtures("plain_text")
def test_a_traceback_of_a_command_shows_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    pepper = token_hex(8)
    try:
        raise ConnectionError(f"postgresql://us:{pepper}@host cannot be reached")
    except ConnectionError as error:
        get_logger("some.module").warning("not reached", exc_info=error, match_id="m1")
    out, err = capsys.readouterr()
    assert out == ""
    assert "not reached" in err and "match_id=m1" in err and "postgresql://us:***@host" in err
    assert pepper not in err


def test_keys_in_urls_are_redacted() -> None:
    message = '%s - "WebSocket %s" [accepted]'
    args = ("127.0.0.1:1", "/cs2/v1/stream?since=4&api_key=mfk_secret")
    record = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, message, args, None)
    assert RedactingFilter().filter(record)
    assert record.getMessage() == '127.0.0.1:1 - "WebSocket /cs2/v1/stream?since=4&api_key=***" [accepted]'
    plain = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, "GET /?token=abc %d", (5,), None)
    assert RedactingFilter().filter(plain)
    assert plain.getMessage() == "GET /?token=*** 5"
