"""How far the feed is with each tenant, /ops/v1/feed."""

from litestar import get
from litestar.di import NamedDependency

from app.access.delivery_status import TenantStatus, tenant_statuses
from app.operators.dependencies import OperatorDependencies
from app.operators.shared import OPERATOR
from app.wire.views.meta import ListMeta, Many


@get("/ops/v1/feed", opt=OPERATOR)
async def show_feed(ops: NamedDependency[OperatorDependencies]) -> Many[TenantStatus]:
    """How far each tenant has been told over AMQP: lag, connection, queues, losses."""
    told = await tenant_statuses(ops.store, ops.broker.management)
    return Many(tuple(told), ListMeta(len(told)))


HANDLERS = (show_feed,)
