"""The tenant's access to AMQP: where its clients log in, a new password, a login that we try."""

from typing import Any

from litestar import Response, post

from app.access import self_service
from app.access.self_service import LoginCheck
from app.broker.address import tenant_scheme
from app.broker.permissions import SDK_EXCHANGE, tenant_user
from app.broker.provisioning import USER_LIMITS
from app.http.handlers import get
from app.kit.errors import Refusal
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.sites.portal.site import Permission

_DEVELOPERS: dict[str, Any] = {"permission": Permission.CREDENTIALS}
_LATEST = 2**63 - 1


@get("/amqp")
async def show_vhost(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Where the tenant's clients log in, and who made the present password."""
    return await _amqp_page(request, portal)


@post("/amqp", opt=_DEVELOPERS)
async def make_credentials(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Set a new password, and show the URL with it in this response only."""
    form, signed_in = Form(await request.form()), request.auth
    try:
        url = await self_service.provision_own_vhost(
            portal.store,
            portal.counters,
            signed_in.tenant,
            form.number("seen", 0, _LATEST),
            portal.broker,
            by=signed_in.actor,
            now=portal.clock(),
        )
    except Refusal as refusal:
        return await _amqp_page(request, portal, refusal)
    return page(request, "issued_url.html", url=url, exchange=portal.broker.exchange)


@post("/amqp/check", opt=_DEVELOPERS)
async def check_login(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Log in with the pasted password as the tenant's client does, and show each step."""
    try:
        pasted = Form(await request.form()).secret("password").strip()
        result = await self_service.check_credentials(
            portal.counters, request.auth.tenant, pasted, portal.broker
        )
    except Refusal as refusal:
        return await _amqp_page(request, portal, refusal)
    return await _amqp_page(request, portal, result=result)


async def _amqp_page(
    request: SignedInRequest,
    portal: Portal,
    refusal: Refusal | None = None,
    *,
    result: LoginCheck | None = None,
) -> Response[str]:
    broker, tenant = portal.broker, request.auth.tenant
    async with portal.store.autocommit() as tx:
        last = await self_service.last_provisioned(tx, tenant)
        permitted = await self_service.may_provision(tx, tenant)
    host = broker.public_host.partition(":")[0]
    return page(
        request,
        "amqp.html",
        refusal,
        last=last,
        may_provision=permitted,
        host=host,
        address=broker.public_host,
        vhost_user=tenant_user(tenant.vhost),
        exchange=broker.exchange,
        sdk_exchange=SDK_EXCHANGE,
        tls=tenant_scheme(broker.public_host, broker.address) == "amqps",
        named_queues=broker.mode == "http",
        connections=USER_LIMITS["max-connections"],
        queues=tenant.max_queues,
        vhost=tenant.vhost,
        result=result,
    )
