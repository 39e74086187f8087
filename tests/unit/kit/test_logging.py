"""What the server writes about requests holds no key."""

import logging

from app.kit.logging import RedactingFilter


def test_keys_in_urls_are_redacted() -> None:
    message = '%s - "WebSocket %s" [accepted]'
    args = ("127.0.0.1:1", "/cs2/v1/stream?since=4&api_key=mfk_secret")
    record = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, message, args, None)
    assert RedactingFilter().filter(record)
    assert record.getMessage() == '127.0.0.1:1 - "WebSocket /cs2/v1/stream?since=4&api_key=***" [accepted]'
    plain = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, "GET /?token=abc %d", (5,), None)
    assert RedactingFilter().filter(plain)
    assert plain.getMessage() == "GET /?token=*** 5"
