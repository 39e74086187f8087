"""How a cached body is sent: with one write to the socket, where the server is ours (`server.HttpProtocol`).

The framework and the server pass each message on in seven calls, and write head and body separately; decision
0074 has what that costs.
"""

from typing import cast

from litestar.types import HTTPScope, Scope, Send

from app.http.headers import count_response, headers_of_request
from app.http.representation import ResponseBody, header_fields, send_body
from app.http.server import connection_of


async def send_cached(scope: Scope, send: Send, body: ResponseBody) -> None:
    """Send a body as `send_body` does, with what `complete_response` adds."""
    connection = connection_of(scope) if cast(HTTPScope, scope)["method"] == "GET" else None
    if connection:
        answer = body.answer(scope)
        fields = answer.fields + header_fields(headers_of_request(scope))
        if await connection.respond(scope, answer.status, fields, answer.content):
            count_response(scope["path"], answer.status)
            return
    await send_body(scope, send, body)
