"""What a tenant's client does at the broker when it starts, done by us: each step with the broker's answer.

The queue of the check is bound with a key that no message has: the tenant's vhost counts as no better served
for it, and nothing is published because of it.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import msgspec
from pamqp import commands

from app.broker.address import Address
from app.broker.client_session import ClientSession, Refused, client_session

StepName = Literal["connect", "log_in", "declare", "bind", "delete"]
#: A server-generated name that the broker never generates.
_NO_QUEUE = "amq.gen-none"
_UNUSED_KEY = "login-check"
_NOT_FOUND = 404


class Step(msgspec.Struct, frozen=True):
    """A step of a login: how long it took in ms, and why it failed in the broker's words, empty if it did
    not."""

    name: StepName
    millis: int
    error: str = ""


async def check_login(tenant: Address, vhost: str, exchange: str, seconds: float) -> tuple[Step, ...]:
    """Log in to `vhost`, declare an exclusive queue that is deleted with its connection, bind it to
    `exchange`, delete it and look whether it is gone; within `seconds`. The first step that fails is the
    last."""
    check = _Check()
    async with check.reporting(seconds), check.logged_in(tenant, vhost) as session:
        check.next("declare")
        declare = commands.Queue.Declare(exclusive=True, auto_delete=True)
        queue = (await session.call(declare, commands.Queue.DeclareOk)).queue or ""
        check.next("bind")
        bind = commands.Queue.Bind(queue=queue, exchange=exchange, routing_key=_UNUSED_KEY)
        await session.call(bind, commands.Queue.BindOk)
        check.next("delete")
        await session.call(commands.Queue.Delete(queue=queue), commands.Queue.DeleteOk)
        await _expect_missing(session, commands.Queue.Declare(queue=queue, passive=True))
    return check.steps


async def check_binding(tenant: Address, vhost: str, exchange: str, seconds: float) -> tuple[Step, ...]:
    """`check_login` of a tenant that may be at its queue limit: log in, and bind a queue that does not exist.
    The broker checks permissions first, and reports a missing queue only to a user that has them."""
    check = _Check()
    async with check.reporting(seconds), check.logged_in(tenant, vhost) as session:
        check.next("bind")
        bind = commands.Queue.Bind(queue=_NO_QUEUE, exchange=exchange, routing_key="#")
        await _expect_missing(session, bind)
    return check.steps


async def _expect_missing(
    session: ClientSession, request: commands.Queue.Declare | commands.Queue.Bind
) -> None:
    """Send what the broker refuses only because there is no such queue."""
    try:
        await session.call(request, object)
    except Refused as refusal:
        if refusal.code != _NOT_FOUND:
            raise
    else:
        raise ConnectionError(f"the queue {request.queue} is still there")


class _Check:
    """The steps of one login so far."""

    def __init__(self) -> None:
        self._done: list[Step] = []
        self._present: StepName = "connect"
        self._began = time.monotonic()

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._done)

    def next(self, name: StepName) -> None:
        """The present step has worked; another begins."""
        self._end("")
        self._present, self._began = name, time.monotonic()

    @asynccontextmanager
    async def reporting(self, seconds: float) -> AsyncIterator[None]:
        """Record the present step as the last one when the block ends, or fails, or takes too long."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            self._end(f"no answer within {seconds:.0f} s")
        except EOFError:
            self._end("the broker ended the connection")
        except (OSError, Refused) as error:
            self._end(str(error) or type(error).__name__)
        else:
            self._end("")

    @asynccontextmanager
    async def logged_in(self, tenant: Address, vhost: str) -> AsyncIterator[ClientSession]:
        """A session in the vhost, with a channel."""
        async with client_session(tenant) as session:
            self.next("log_in")
            await session.log_in(tenant, vhost)
            await session.open_channel()
            yield session

    def _end(self, error: str) -> None:
        self._done.append(Step(self._present, round((time.monotonic() - self._began) * 1000), error))
