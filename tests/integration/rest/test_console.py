"""The console's page, what it may load, and the files of Swagger UI that it loads."""

import base64
import hashlib
import re
from pathlib import Path

import httpx
import pytest
from lxml import etree

from app.channels.rest.console.routes import FILES, PACKAGE
from tests.support.web import Headers

FOLDER = Path(__file__).resolve().parents[3] / "app" / "channels" / "rest" / "console"


def digest(content: bytes) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(content).digest()).decode()


async def page(client: httpx.AsyncClient) -> etree._Element:
    return etree.fromstring((await client.get("/v1/docs/console")).content, etree.HTMLParser())


def policy(answer: httpx.Response) -> Headers:
    parts = answer.headers["content-security-policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


async def test_anybody_gets_the_page_with_the_policy_that_it_needs(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/docs/console")
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    assert policy(answer) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


@pytest.mark.parametrize("path", ["/v1/docs", "/v1/docs/pushed"])
async def test_other_pages_allow_no_script_and_no_request(client: httpx.AsyncClient, path: str) -> None:
    other = policy(await client.get(path))
    assert other["default-src"] == "'none'" and not {"script-src", "connect-src", "img-src"} & other.keys()


async def test_the_page_loads_files_of_ours_with_their_digests(client: httpx.AsyncClient) -> None:
    root = await page(client)
    loaded = [*root.xpath("//script"), *root.xpath("//link[@rel='stylesheet']")]
    addresses = [str(one.get("src") or one.get("href")) for one in loaded]
    names = ["console.css", "console.js", "swagger-ui-bundle.js", "swagger-ui.css"]
    assert sorted(each.rpartition("/")[2] for each in addresses) == names
    for one, address in zip(loaded, addresses, strict=True):
        assert address.startswith("/v1/docs/console/")
        answer = await client.get(address)
        assert answer.status_code == 200 and one.get("integrity") == digest(answer.content), address
        kind = "text/css" if address.endswith(".css") else "text/javascript"
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"


async def test_nothing_is_inline_and_nothing_comes_from_elsewhere(client: httpx.AsyncClient) -> None:
    root = await page(client)
    assert not root.xpath("//style | //@style | //script[text()] | //img | //iframe")
    assert not [each for each in root.xpath("//@*") if each.attrname.startswith("on")]
    for address in map(str, root.xpath("//@src | //@href")):
        assert address == "data:," or (await client.get(address)).status_code == 200, address
    for path in (FOLDER / "assets").iterdir():
        assert not re.search(r"https?://|innerHTML|eval\(|Storage\b", path.read_text()), path.name


async def test_its_document_is_the_one_that_clients_get(client: httpx.AsyncClient, basic: Headers) -> None:
    script = (FOLDER / "assets" / "console.js").read_text()
    assert re.findall(r'"(/[^"]+)"', script) == ["/v1/openapi.json"]
    document = (await client.get("/v1/openapi.json", headers=basic)).json()
    [scheme] = re.findall(r'SCHEME = "(\w+)"', script)
    assert document["components"]["securitySchemes"][scheme]["name"] == "X-API-Key"
    assert document["servers"] == [{"url": "/"}]


def test_the_package_is_as_recorded() -> None:
    """Each file has its digest, none is there without one, and the licence is among them."""
    there = {path.name: digest(path.read_bytes()) for path in (FOLDER / "swagger_ui").iterdir()}
    del there["package.toml"]
    assert there == PACKAGE.files
    assert {"LICENSE", "NOTICE"} < there.keys() and PACKAGE.licence == "Apache-2.0"
    assert "Apache License" in (FOLDER / "swagger_ui" / "LICENSE").read_text()


async def test_a_file_is_kept_for_long_and_compressed(client: httpx.AsyncClient) -> None:
    for name in sorted(FILES):
        file = FILES[name]
        for accepted, coding in (("identity", None), ("gzip", "gzip"), ("gzip;q=0", None)):
            answer = await client.get(file.address, headers={"Accept-Encoding": accepted})
            assert answer.content == file.path.read_bytes(), name
            assert answer.headers.get("content-encoding") == coding, name
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable", name
            assert answer.headers["vary"] == "Accept-Encoding", name


async def test_nothing_else_is_served(client: httpx.AsyncClient) -> None:
    """Neither other files, nor a file of ours under a version that it does not have."""
    version = FILES["swagger-ui.css"].version
    for name in ["swagger-ui.css.map", "package.toml", "..%2Fpage.html", "console.js"]:
        answer = await client.get(f"/v1/docs/console/{version}/{name}")
        assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store"), name


async def test_two_versions_of_a_file_have_two_addresses() -> None:
    ours = [file for file in FILES.values() if file.name not in PACKAGE.files]
    for file in ours:
        assert file.version == hashlib.sha256(file.path.read_bytes()).hexdigest()[:16]
    assert all(PACKAGE.version in FILES[name].address for name in PACKAGE.files)
