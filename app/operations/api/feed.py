"""The state of the AMQP feed, tenant by tenant, /ops/v1/feed."""

from litestar.di import NamedDependency

from app.amqp.delivery_status import TenantStatus, tenant_statuses
from app.http.handlers import get
from app.operations.api.dependencies import OperatorDependencies
from app.operations.api.shared import OPERATOR
from app.wire.views.meta import ListMeta, Many


@get("/ops/v1/feed", opt=OPERATOR)
async def show_feed(ops: NamedDependency[OperatorDependencies]) -> Many[TenantStatus]:
    """The AMQP feed of each tenant: lag, connection, queues, losses."""
    views = await tenant_statuses(ops.store, ops.broker.management)
    return Many(tuple(views), ListMeta(len(views)))


HANDLERS = (show_feed,)
