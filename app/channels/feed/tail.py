"""A tenant's feed as text: one line for each message, one more for each market in it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

from aio_pika.abc import AbstractConnection
from aio_pika.exceptions import AMQPError
from lxml import etree

from app.broker.connection import open_connection
from app.kit.clock import iso_millis
from app.kit.errors import Unavailable
from app.kit.logging import redact

_STATUS = {"1": "open", "0": "inactive", "-1": "suspended", "-3": "settled", "-4": "cancelled"}
_RESULT = {"1": "won", "0": "lost"}
_SHOWN = ("status", "change_type", "groups", "subscribed", "request_id")


def readable(routing_key: str, body: bytes, seq: int | None = None) -> str:
    """A message as text: time, message, match, score, then its markets, indented."""
    root = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
    parts = [iso_millis(int(root.get("timestamp", "0"))), str(root.tag), root.get("event_id", "")]
    parts += [f"{name}={root.get(name)}" for name in _SHOWN if root.get(name)]
    parts += [f"#{seq}"] if seq is not None else []
    parts += ["replayed"] if routing_key.startswith("lo.") else []
    parts += list(_state(root.find("sport_event_status")))
    lines = [" ".join(filter(None, parts)), *(f"    {_market(market)}" for market in root.iter("market"))]
    return "\n".join(lines)


async def tail(url: str, exchange: str) -> AsyncIterator[str]:
    """Every message of a vhost from now on, readable, for as long as it is iterated.

    `url` names the vhost. Raises `Unavailable` when it cannot be connected to.
    """
    async with _connected(url) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(exclusive=True, auto_delete=True)
        await queue.bind(exchange, "#")
        async with queue.iterator(no_ack=True) as messages:
            async for message in messages:
                seq = message.headers.get("x-seq")
                number = seq if isinstance(seq, int) else None
                yield readable(message.routing_key or "", message.body, number)


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[AbstractConnection]:
    async with AsyncExitStack() as stack:
        try:
            connection = await stack.enter_async_context(open_connection(url, 10))
        except (AMQPError, OSError) as error:
            raise Unavailable(
                f"There is no way into {redact(url)}. Is RABBITMQ_URL the tenant's broker, and the tenant "
                "provisioned there?"
            ) from error
        yield connection


def _state(state: etree._Element | None) -> Iterator[str]:
    if state is None:
        return
    yield f"status {state.get('status')}, maps {state.get('home_score')}:{state.get('away_score')}"
    board = state.find("scoreboard")
    if board is not None and board.get("current_round"):
        rounds = f"{board.get('home_won_rounds')}:{board.get('away_won_rounds')}"
        yield f"rounds {rounds}, round {board.get('current_round')}"


def _market(market: etree._Element) -> str:
    outcome = market.find("outcome")
    columns = [f"{market.get('id'):>3}", market.get("specifiers") or "-"]
    if market.get("status"):
        columns.append(_STATUS.get(market.get("status", ""), "?"))
    if outcome is not None and outcome.get("odds"):
        columns.append(f"@{outcome.get('odds')}")
    if market.get("favourite"):
        columns.append("favourite")
    if outcome is not None and outcome.get("result"):
        columns.append(_RESULT.get(outcome.get("result", ""), "?"))
    if market.get("void_reason_id"):
        columns.append(f"void, reason {market.get('void_reason_id')}")
    return "  ".join(columns)
