"""The list of daily files and their download: rights, parts, and what is left of one that broke off."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree
from matchfeed_client.rest import ClientError, Rest
from msgspec.structs import replace

from app.files.directory import FileDirectory
from app.settings import Settings
from tests.integration.files.conftest import DAY, NEXT, Make
from tests.support.applications import application
from tests.support.story import Story, offer
from tests.support.web import Headers, IssueKey, serving
from tests.support.wire import listening

NAME = f"prices-{DAY}.csv.gz"
PATH = f"/v1/files/{NAME}"


@pytest.fixture
async def key(story: Story, issue: IssueKey, make: Make) -> Headers:
    """A bookmaker's key, once there are files."""
    headers = {"X-API-Key": await issue(bundles=("cs2.odds.basic",))}
    await story.match(*[offer(number) for number in range(1, 60)])
    await make()
    return headers


async def listed(client: httpx.AsyncClient, key: Headers, **query: str) -> list[dict[str, Any]]:
    answer = await client.get("/v1/files", params=query, headers=key)
    found: list[dict[str, Any]] = answer.raise_for_status().json()["data"]
    return found


async def test_the_list_says_what_each_file_is(client: httpx.AsyncClient, key: Headers) -> None:
    found = await listed(client, key)
    kinds = ("prices", "settlements", "rounds", "timeline")
    assert [one["name"] for one in found] == [
        f"{kind}-{day}.{form}" for day in (NEXT, DAY) for kind in kinds for form in ("parquet", "csv.gz")
    ]
    for one in found:
        answer = await client.get(f"/v1/files/{one['name']}", headers=key)
        body = answer.raise_for_status().content
        assert (len(body), hashlib.sha256(body).hexdigest()) == (one["size"], one["sha256"])
        assert answer.headers["etag"] == f'"{one["sha256"]}"'
        assert one["name"] in answer.headers["content-disposition"]
    assert {one["day"] for one in await listed(client, key, day=str(DAY))} == {str(DAY)}
    assert await listed(client, key, day="2023-11-16") == []


async def test_the_list_as_xml(client: httpx.AsyncClient, key: Headers) -> None:
    answer = await client.get("/v1/files", headers=key | {"Accept": "application/xml"})
    document = etree.fromstring(answer.raise_for_status().content)
    names = [item.get("name") for item in document.find("data")]
    assert names == [one["name"] for one in await listed(client, key)]


@pytest.mark.parametrize(
    ("scope", "kinds"),
    [
        ("cs2:markets:read", {"prices"}),
        ("cs2:markets:settlements", {"settlements"}),
        ("cs2:matches:detail", {"rounds", "timeline"}),
    ],
)
async def test_a_key_has_the_kinds_that_its_scopes_open(
    client: httpx.AsyncClient, key: Headers, issue: IssueKey, scope: str, kinds: set[str]
) -> None:
    limited = {"X-API-Key": await issue(scopes=(scope,))}
    assert {one["kind"] for one in await listed(client, limited)} == kinds
    for one in await listed(client, key):
        answer = await client.get(f"/v1/files/{one['name']}", headers=limited)
        assert answer.status_code == (200 if one["kind"] in kinds else 403)
        assert answer.status_code == 200 or "scope" in answer.json()["detail"]


async def test_a_tenant_has_no_file_that_was_made_for_another(
    client: httpx.AsyncClient, key: Headers, issue: IssueKey, make: Make
) -> None:
    """One that receives probabilities since: its files have another column, and are there once they are
    made."""
    later = {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",), probabilities=True)}
    assert {one["kind"] for one in await listed(client, later)} == {"settlements", "rounds", "timeline"}
    assert (await client.get(PATH, headers=later)).status_code == 404
    made = await make()
    assert [{one.kind for one in each.made} for each in made] == [{"prices"}, {"prices"}]
    assert (await client.get(PATH, headers=later)).status_code == 200
    assert (await client.get(PATH, headers=later)).content != (await client.get(PATH, headers=key)).content


async def test_a_name_that_stands_for_nothing(client: httpx.AsyncClient, key: Headers) -> None:
    for name in ["prices-2023-11-14.xlsx", "prices-2023-02-30.parquet", "odds-2023-11-14.csv.gz", "x"]:
        answer = await client.get(f"/v1/files/{name}", headers=key)
        assert answer.status_code == 404 and "/v1/files lists" in answer.json()["detail"], name


async def test_without_a_directory_there_are_none(settings: Settings, key: Headers) -> None:
    async with serving(replace(settings, files_directory="")) as client:
        for path in ("/v1/files", PATH):
            answer = await client.get(path, headers=key)
            assert answer.status_code == 404 and "FILES_DIRECTORY" in answer.json()["detail"]
        document = (await client.get("/v1/openapi.json", headers=key)).json()
        assert "404" in document["paths"]["/v1/files"]["get"]["responses"]


async def test_parts_of_a_file(client: httpx.AsyncClient, key: Headers) -> None:
    whole = await client.get(PATH, headers=key)
    body, tag, size = whole.content, whole.headers["etag"], len(whole.content)
    for text, begin, end in (
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=100-", 100, size),
        (f"bytes=5-{size * 9}", 5, size),
        ("bytes=-7", size - 7, size),
        (f"bytes=-{size * 9}", 0, size),
    ):
        for condition in ({}, {"If-Range": tag}):
            part = await client.get(PATH, headers=key | {"Range": text} | condition)
            assert (part.status_code, part.content) == (206, body[begin:end]), text
            assert part.headers["content-range"] == f"bytes {begin}-{end - 1}/{size}"
            assert part.headers["content-length"] == str(end - begin)


async def test_all_of_it_where_no_part_can_be_meant(client: httpx.AsyncClient, key: Headers) -> None:
    whole = await client.get(PATH, headers=key)
    for headers in [
        {"Range": "bytes=0-1,3-4"},
        {"Range": "lines=1-2"},
        {"Range": "bytes=9-3"},
        {"Range": "bytes=-"},
        {"Range": "bytes=10-19", "If-Range": '"another"'},
        {"Range": "bytes=10-19", "If-Range": "Tue, 14 Nov 2023 00:00:00 GMT"},
        {"Accept": "application/pdf"},
    ]:
        answer = await client.get(PATH, headers=key | headers)
        assert (answer.status_code, answer.content) == (200, whole.content), headers
        assert answer.headers["accept-ranges"] == "bytes", headers


async def test_a_part_that_is_not_there(client: httpx.AsyncClient, key: Headers) -> None:
    size = len((await client.get(PATH, headers=key)).content)
    for text in (f"bytes={size}-", f"bytes={size + 5}-{size + 9}", "bytes=-0"):
        answer = await client.get(PATH, headers=key | {"Range": text})
        assert answer.status_code == 416, text
        assert answer.headers["content-range"] == f"bytes */{size}"
        assert str(size) in answer.json()["detail"]


async def test_head_and_conditional_requests(client: httpx.AsyncClient, key: Headers) -> None:
    whole = await client.get(PATH, headers=key)
    head = await client.head(PATH, headers=key | {"Range": "bytes=3-"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.content))
    same = await client.get(PATH, headers=key | {"If-None-Match": whole.headers["etag"], "Range": "bytes=3-"})
    assert (same.status_code, same.content) == (304, b"")


async def test_a_file_that_is_pruned_while_it_is_listed(
    client: httpx.AsyncClient, key: Headers, directory: FileDirectory
) -> None:
    for path in (directory.path / str(DAY)).glob("prices-*"):
        path.unlink()
    answer = await client.get(PATH, headers=key)
    assert answer.status_code == 404 and answer.headers["content-type"] == "application/json"


async def test_a_file_that_is_not_whole_is_not_sent(
    client: httpx.AsyncClient, key: Headers, directory: FileDirectory
) -> None:
    [path] = (directory.path / str(DAY)).glob("prices-*.csv.gz")
    os.truncate(path, 100)
    answer = await client.get(PATH, headers=key | {"Range": "bytes=50-"})
    assert answer.status_code == 404 and "not whole" in answer.json()["detail"]


class Breaking:
    """A way to a server on which each connection ends after so many bytes of answers."""

    def __init__(self, there: int, most: int) -> None:
        self._there, self._most = there, most
        self.connections = 0
        self._serving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """The address, until the end of the block."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        answers, requests = await asyncio.open_connection("127.0.0.1", self._there)
        try:
            requests.write(await reader.readuntil(b"\r\n\r\n"))
            left = self._most
            while left and (data := await answers.read(left)):
                left -= len(data)
                writer.write(data)
                await writer.drain()
        finally:
            requests.transport.abort()
            writer.close()


@pytest.fixture
async def served(settings: Settings, directory: FileDirectory) -> AsyncIterator[int]:
    """The port of a real server."""
    with application(settings) as app:
        async with listening(app, settings) as port:
            yield port


@pytest.fixture
async def large(story: Story, issue: IssueKey, make: Make) -> str:
    """A key that may have a file of some 20 kB."""
    key = await issue(bundles=("cs2.odds.basic",))
    odds = [Decimal(1001 + number * number % 48_611) / 1000 for number in range(3000)]
    await story.match(*[offer(number, odds=each) for number, each in enumerate(odds)])
    await make(DAY)
    return key


async def test_curl_resumes_what_broke_off(served: int, large: str, tmp_path: Path) -> None:
    target, way = tmp_path / NAME, Breaking(served, 6_000)
    async with way.open() as address:
        code = -1
        while code and way.connections < 20:
            command = ("curl", "-sS", "-f", "-C", "-", "-H", f"X-API-Key: {large}", "-o", str(target))
            process = await asyncio.create_subprocess_exec(*command, f"{address}{PATH}")
            code = await process.wait()
            assert code in (0, 18), "complete, or a partial file"
    async with Rest(f"http://127.0.0.1:{served}", large) as rest:
        (entry,) = [one for one in await rest.files(DAY) if one["name"] == NAME]
    assert way.connections > 2
    assert hashlib.sha256(target.read_bytes()).hexdigest() == entry["sha256"]


async def test_the_client_package_resumes_and_compares(served: int, large: str, tmp_path: Path) -> None:
    target, way = tmp_path / "prices.csv.gz", Breaking(served, 6_000)
    async with Rest(f"http://127.0.0.1:{served}", large) as rest:
        (entry,) = [one for one in await rest.files(DAY) if one["name"] == NAME]
    async with way.open() as address, Rest(address, large) as rest:
        await rest.download(entry, target)
    assert way.connections > 2
    assert hashlib.sha256(target.read_bytes()).hexdigest() == entry["sha256"]
    assert not target.with_name(f"{target.name}.part").exists()


async def test_the_client_package_keeps_nothing_of_another_file(
    served: int, large: str, tmp_path: Path
) -> None:
    """What is there of it began as another file; and the list is of another file than what is sent."""
    target = tmp_path / "prices.csv.gz"
    target.with_name("prices.csv.gz.part").write_bytes(b"something else")
    async with Rest(f"http://127.0.0.1:{served}", large) as rest:
        (entry,) = [one for one in await rest.files(DAY) if one["name"] == NAME]
        with pytest.raises(ClientError, match="is not what the list says"):
            await rest.download(entry, target)
        await rest.download(entry, target)
        assert hashlib.sha256(target.read_bytes()).hexdigest() == entry["sha256"]
        with pytest.raises(ClientError, match="There is no file"):
            await rest.download(entry | {"name": "prices-2001-01-01.csv.gz"}, tmp_path / "none")
        shorter_since = entry | {"size": entry["size"] + 1, "sha256": "0" * 64}
        async with asyncio.timeout(10):  # not for ever
            with pytest.raises(ClientError, match="is not what the list says"):
                await rest.download(shorter_since, target)
