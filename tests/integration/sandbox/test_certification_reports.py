"""Every way to report: a file, the address of the proxy, and self-checks on their way to the service."""

import asyncio
import json
from pathlib import Path

import httpx

from app.sandbox.certification.clients import Clients
from app.sandbox.certification.evidence import Evidence
from app.sandbox.certification.http_proxy import REPORT_PATH, HttpProxy
from app.sandbox.certification.tls import server_context

BOOK = {"matches": [{"match": "od:match:1", "markets": [[1, "team=home", 1, 1.93]]}]}
REPORT = BOOK | {"results": [], "name": "acme", "version": "2.4"}


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A service that answers with the length of the body that it has received."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    body = await reader.readexactly(length)
    text = str(len(body)).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text))
    await writer.drain()
    writer.close()


async def test_the_last_report_counts_however_it_comes(tmp_path: Path) -> None:
    clients = Clients("", tmp_path, lambda _: {})
    async with await asyncio.start_server(echo, "127.0.0.1", 0) as service:
        port = service.sockets[0].getsockname()[1]
        proxy = HttpProxy("127.0.0.1", (port, port), Evidence(), clients.take, clients.take_digest)
        await proxy.start(server_context(tmp_path / "ca.pem"))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{proxy.port}", trust_env=False) as http:
            answer = await http.post("/cs2/v1/selfcheck", json=BOOK | {"complete": True})
            assert answer.text == str(len(answer.request.content))
            assert clients.received[1].report.matches[0].match == "od:match:1"
            assert (await http.put(f"{REPORT_PATH}?process=1", json=REPORT)).status_code == 204
            assert (clients.name, clients.version) == ("acme", "2.4")
            await http.post("/cs2/v1/selfcheck", json={"matches": []})
            assert clients.received[1].report.matches, "a self-check says less than a report"
            assert (await http.put(f"{REPORT_PATH}?process=2", json=REPORT)).status_code == 204
            assert set(clients.received) == {1, 2}
            refused = await http.put(f"{REPORT_PATH}?process=1", json={"matches": [{"match": 1}]})
            assert refused.status_code == 400 and "match" in refused.json()["detail"]
            as_text = {"matches": [{"match": "od:match:1", "markets": [[1, "team=home", 1, "1.93"]]}]}
            refused = await http.put(f"{REPORT_PATH}?process=1", json=as_text)
            assert refused.status_code == 400 and "Expected `float" in refused.json()["detail"]
        await proxy.stop()
    clients.file(1).write_text(json.dumps(REPORT | {"version": "2.5"}))
    clients.read_files()
    assert clients.version == "2.5"
    clients.file(1).write_text('{"matches"')  # while it is being written
    clients.read_files()
    assert clients.received[1].report.matches
