"""How tenants are told over AMQP; for operator keys only."""

from typing import Any

from litestar import get
from litestar.di import NamedDependency

from app.access.standing import Told, tenants_told
from app.channels.rest.office import Office
from app.wire.views.meta import ListMeta, Many

_OPERATOR: dict[str, Any] = {"operator": True}


@get("/ops/v1/feed", opt=_OPERATOR)
async def show_feed(office: NamedDependency[Office]) -> Many[Told]:
    """How far each tenant has been told over AMQP: lag, connection, queues, losses."""
    told = await tenants_told(office.store, office.broker.management)
    return Many(tuple(told), ListMeta(len(told)))


HANDLERS = (show_feed,)
