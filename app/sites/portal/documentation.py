"""Examples for this service's addresses that can be copied as they are, with a key that the reader pastes.

Raw keys are stored nowhere, so the page cannot know the tenant's. A pasted one is put into this one response,
if it is a key of the tenant, and is neither stored nor logged.
"""

from urllib.parse import quote

import msgspec
from litestar import Response, post

from app.access import self_service
from app.broker.address import tenant_url
from app.broker.permissions import SDK_EXCHANGE, tenant_user
from app.domain import scopes
from app.http.handlers import get
from app.kit.errors import Field, Invalid, Refusal
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.store.keys import Key

_UNKNOWN_KEY = "YOUR_KEY"
_UNKNOWN_PASSWORD = "PASSWORD"  # noqa: S105  # stands for a password in an example


class Example(msgspec.Struct, frozen=True):
    """A text to copy; `title` is the name of its title among the texts, `scope` what the key needs for it."""

    title: str
    text: str
    scope: str = ""


@get("/docs")
async def examples_page(request: SignedInRequest, portal: Portal) -> Response[str]:
    """The examples, with a word where the key belongs."""
    return _page(request, portal)


@post("/docs")
async def examples_with_key(request: SignedInRequest, portal: Portal) -> Response[str]:
    """The examples with a key of the tenant, and whether it is valid."""
    try:
        raw = Form(await request.form()).secret("key").strip()
        async with portal.store.autocommit() as tx:
            key = await self_service.find_key(tx, request.auth.tenant.id, raw, secret=portal.secret)
        if key is None:
            raise Invalid(Field(("key",), "This is no key of your tenant.", "foreign_key"))
    except Refusal as refusal:
        return _page(request, portal, refusal=refusal)
    return _page(request, portal, key, raw)


def examples(portal: Portal, vhost: str, raw_key: str) -> tuple[Example, ...]:
    """The examples for one tenant. Keys have letters, digits and `_` only: they need no quoting."""
    url, broker = portal.public_url, portal.broker
    stream = f"ws{url.removeprefix('http')}/cs2/v1/stream?api_key={raw_key}"
    curl = f"curl -H 'X-API-Key: {raw_key}'"
    host = broker.public_host.partition(":")[0]
    amqp = tenant_url(broker.public_host, broker.address, tenant_user(vhost), _UNKNOWN_PASSWORD, vhost)
    return (
        Example("docs.whoami", f"{curl} {url}/v1/whoami"),
        Example("docs.live", f"{curl} '{url}/cs2/v1/matches?status=live'", scopes.LIST),
        Example("docs.xml", f"{curl} {url}/cs2/v1/matches.xml", scopes.LIST),
        Example("docs.settlements", f"{curl} {url}/cs2/v1/settlements", scopes.SETTLEMENTS),
        Example(
            "docs.recovery",
            f"{curl} -X POST '{url}/cs2/v1/recovery/initiate_request?request_id=1'",
            scopes.RECOVERY,
        ),
        Example("docs.stream", _STREAM.format(url=stream), scopes.STREAM_MATCHES),
        Example("docs.amqp", _AMQP.format(url=amqp, exchange=broker.exchange)),
        Example(
            "docs.sdk",
            _AMQP.format(
                url=f"amqps://{raw_key}:@{host}:5671/{quote(vhost, safe='')}", exchange=SDK_EXCHANGE
            ),
            scopes.RECOVERY,
        ),
    )


def _page(
    request: SignedInRequest,
    portal: Portal,
    key: Key | None = None,
    raw: str = _UNKNOWN_KEY,
    refusal: Refusal | None = None,
) -> Response[str]:
    return page(
        request,
        "documentation.html",
        refusal,
        examples=examples(portal, request.auth.tenant.vhost, raw),
        key=key,
        amqp=request.auth.tenant.amqp,
    )


_STREAM = """\
# pip install websockets
import asyncio
import websockets

async def main() -> None:
    async with websockets.connect("{url}", max_size=None) as stream:
        async for frame in stream:
            print(frame)

asyncio.run(main())
"""
_AMQP = """\
# pip install aio-pika
import asyncio
import aio_pika

async def main() -> None:
    connection = await aio_pika.connect("{url}")
    channel = await connection.channel()
    queue = await channel.declare_queue(exclusive=True)
    await queue.bind("{exchange}", "#")
    async with queue.iterator(no_ack=True) as messages:
        async for message in messages:
            print(message.routing_key, message.body.decode())

asyncio.run(main())
"""
