"""Clients get the very schemas that our XML is made from."""

from pathlib import Path

import httpx
from lxml import etree

from app.wire.xml import feed
from tests.support.web import Headers

SCHEMAS = Path(__file__).resolve().parents[3] / "schemas"


async def test_a_schema_is_served_byte_for_byte(client: httpx.AsyncClient, basic: Headers) -> None:
    for name in ["common.xsd", "feed.xsd", "facade.xsd"]:
        answer = await client.get(f"/v1/schemas/{name}", headers=basic)
        assert answer.status_code == 200, name
        assert answer.headers["content-type"].startswith("application/xml"), name
        assert answer.content == (SCHEMAS / name).read_bytes(), name


async def test_served_schemas_validate_an_envelope(
    client: httpx.AsyncClient, basic: Headers, tmp_path: Path
) -> None:
    for name in ("common.xsd", "feed.xsd"):
        (tmp_path / name).write_bytes((await client.get(f"/v1/schemas/{name}", headers=basic)).content)
    etree.XMLSchema(etree.parse(tmp_path / "feed.xsd")).assertValid(etree.fromstring(feed.alive(2, 1, True)))


async def test_nothing_else_is_served(client: httpx.AsyncClient, basic: Headers) -> None:
    for name in ["secrets.xsd", "..%2Fpyproject.toml", "feed.xsd.bak"]:
        assert (await client.get(f"/v1/schemas/{name}", headers=basic)).status_code == 404, name
