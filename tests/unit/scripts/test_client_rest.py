"""How the client package takes what the service answers."""

from typing import Any

import httpx
import pytest
from matchfeed_client import Results, reporting
from matchfeed_client.rest import Answer, ClientError, Rest

OLD = {"loc": ["query", "after"], "msg": "Older than the window.", "type": "too_old"}
AHEAD = {"loc": ["query", "after"], "msg": "In the future.", "type": "in_the_future"}


def service(status: int, body: Any) -> Rest:
    return Rest("http://service", "key", httpx.MockTransport(lambda _: httpx.Response(status, json=body)))


@pytest.mark.parametrize(
    ("status", "body", "answer"),
    [
        (202, {}, Answer(accepted=True)),
        (422, {"detail": [OLD]}, Answer(accepted=False, too_old=True)),
        (422, {"detail": [AHEAD]}, Answer(accepted=False, wait=1.0)),
        (409, {"detail": "Another one is in progress."}, Answer(accepted=False, wait=3.0)),
        (502, "a proxy", Answer(accepted=False, wait=1.0)),
    ],
)
async def test_only_a_time_that_is_too_old_gives_the_past_up(status: int, body: Any, answer: Answer) -> None:
    assert await service(status, body).request_recovery(5, "1") == answer


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (403, {"detail": "This key may not."}, "This key may not."),
        (422, {"detail": [OLD, AHEAD]}, "Older than the window. In the future."),
        (413, "a proxy", "status 413"),
    ],
)
async def test_a_refusal_is_quoted(status: int, body: Any, text: str) -> None:
    with pytest.raises(ClientError, match=text):
        await service(status, body).compare({})


async def test_the_reporting_client_reads_the_ledger_however_often_it_breaks_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reporting, "_LEDGER_PAUSE_SECONDS", 0.001)
    entry = {
        "id": 1,
        "match_urn": "od:match:7",
        "market_id": 13,
        "specifiers": "round=1",
        "new_status": "settled",
        "outcome": "won",
        "created_at": "2031-01-01T00:00:00+00:00",
    }
    answers = iter(
        [httpx.Response(503, json={"detail": "later"}), httpx.ReadError("cut off"), {"data": [entry]}]
    )

    def answer(request: httpx.Request) -> httpx.Response:
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=found)

    results = Results()
    async with Rest("http://service", "key", httpx.MockTransport(answer)) as rest:
        await reporting._read_ledger(rest, results)
    assert [row["outcome"] for row in results.rows()] == ["won"]
