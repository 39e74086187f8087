"""What is set in a response as it is sent."""

from typing import Any

import pytest

from app.http.headers import complete_response


@pytest.mark.parametrize(("method", "sent"), [("GET", b"all of it"), ("HEAD", b"")])
async def test_the_body_is_dropped_after_head_alone(method: str, sent: bytes) -> None:
    """A server may drop it, too; this does not depend on the server."""
    scope: Any = {"type": "http", "method": method, "headers": []}
    body: Any = {"type": "http.response.body", "body": b"all of it", "more_body": False}
    await complete_response(body, scope)
    assert body["body"] == sent
