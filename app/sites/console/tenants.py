"""How delivery stands, tenant by tenant."""

from litestar import Response
from litestar.di import NamedDependency

from app.amqp.delivery_status import CONNECTED, tenant_statuses
from app.http.handlers import get
from app.sites.console.dependencies import ConsoleDependencies, SignedInRequest
from app.sites.pages.rendering import page


@get("/tenants")
async def list_tenants(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies]
) -> Response[str]:
    """Every tenant with a vhost: connection, lag, losses, queues."""
    found = await tenant_statuses(console.store, console.management)
    return page(request, "tenants.html", tenants=found, connected=CONNECTED)


HANDLERS = (list_tenants,)
