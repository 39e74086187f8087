"""The list of matches of each node, and the replays of it: started, stopped, and how far they are."""

import re
from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from app.domain.ids import is_node_or_request_id, match_urn
from app.domain.match import Match
from app.domain.replay import (
    MAX_DELAY_MILLIS,
    MAX_LISTED,
    MAX_OPEN,
    MAX_PARALLEL,
    MAX_SPEED,
    MIN_SPEED,
    ListedMatch,
    ReplayJob,
    ReplayOptions,
)
from app.domain.tenant import Tenant
from app.kit.clock import Clock
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.store import kept_changes, matches, replay_jobs, tenants
from app.store.connections import Store
from app.store.kept_changes import ReplayablePage
from app.store.transaction import Tx

_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?\Z")
_WORDS = {"true": True, "1": True, "false": False, "0": False}
_RETRY_SECONDS = 5


class ReplayParameters(msgspec.Struct, frozen=True):
    """The parameters of a query as they were sent, None for those that were not."""

    speed: str | None = None
    max_delay: str | None = None
    parallel: str | None = None
    rewrite_timestamps: str | None = None


class NodeReplay(msgspec.Struct, frozen=True):
    """A node's list, and the replay that was started last, if any."""

    matches: Sequence[ListedMatch]
    job: ReplayJob | None


class ReplayService(msgspec.Struct, frozen=True):
    """A node is named by digits, None for a tenant without nodes; each has a list and at most one replay that
    runs. Methods that take one raise `Invalid` for anything else."""

    store: Store
    clock: Clock

    async def replayable(
        self, tenant: Tenant, limit: int, after: tuple[int, int] | None = None, *, finished_only: bool
    ) -> ReplayablePage:
        """The matches that the tenant can replay, newest first; `finished_only`: none that was called off."""
        place = [after] if after else []
        async with self.store.snapshot() as tx:
            return await kept_changes.replayable(tx, tenant.id, limit, *place, finished_only=finished_only)

    async def present(self, tenant: Tenant, node_id: str | None, *, finished_only: bool) -> NodeReplay:
        """The node's list and its last replay; `finished_only` as in `replayable`."""
        node = _node(node_id)
        async with self.store.snapshot() as tx:
            listed = await replay_jobs.events(tx, tenant.id, node, finished_only=finished_only)
            return NodeReplay(listed, await replay_jobs.newest(tx, tenant.id, node))

    async def latest(self, tenant: Tenant, limit: int) -> list[ReplayJob]:
        """The tenant's replays, newest first."""
        async with self.store.autocommit() as tx:
            return await replay_jobs.listing(tx, tenant.id, limit=limit)

    async def add(self, tenant: Tenant, node_id: str | None, ref: str, *, finished_only: bool) -> Match:
        """Add a match (UUID or ``od:match:<n>``) to the end of the list; it may be there. Raises `NotFound`
        for one that the tenant does not have or that is not kept whole, `Conflict` for one that is not over,
        and when the list is full."""
        node = _node(node_id)
        async with self.store.transaction() as tx:
            match = await _match(tx, tenant, ref, finished_only=finished_only)
            await tenants.lock_jobs(tx, tenant.id)
            listed = await replay_jobs.events(tx, tenant.id, node)
            if len(listed) >= MAX_LISTED and match.id not in {one.id for one in listed}:
                raise Conflict(f"A list has {MAX_LISTED} matches at most: remove some.", code="list_full")
            await replay_jobs.add_event(tx, tenant.id, node, match.id)
        return match

    async def remove(self, tenant: Tenant, node_id: str | None, ref: str) -> Match:
        """Remove a match from the list. Raises `NotFound` for one that is not in it."""
        node = _node(node_id)
        async with self.store.transaction() as tx:
            match = await matches.by_ref(tx, ref, parameter=("path", "event_id"))
            if not await replay_jobs.remove_event(tx, tenant.id, node, match.id):
                raise NotFound(f"Match {ref!r} is not in the list.", code="not_listed", match=ref)
        return match

    async def clear(self, tenant: Tenant, node_id: str | None) -> None:
        """Stop the replay of the node, if one runs, and empty the list."""
        node = _node(node_id)
        async with self.store.transaction() as tx:
            await tenants.lock_jobs(tx, tenant.id)
            await replay_jobs.stop(tx, tenant.id, node, self.clock())
            await replay_jobs.clear_events(tx, tenant.id, node)

    async def stop(self, tenant: Tenant, node_id: str | None) -> bool:
        """Stop the replay of the node; whether one ran."""
        node = _node(node_id)
        async with self.store.transaction() as tx:
            await tenants.lock_jobs(tx, tenant.id)
            return await replay_jobs.stop(tx, tenant.id, node, self.clock())

    async def play(
        self,
        tenant: Tenant,
        node_id: str | None,
        options: ReplayOptions,
        *,
        by: str,
        where: str = "body",
        refs: Sequence[str] | None = None,
        finished_only: bool = False,
    ) -> ReplayJob:
        """Start to replay the list, which first becomes that of the matches `refs`, if these are not None;
        `finished_only` as in `present`.

        Raises `Invalid` for options out of range; `Conflict` when the list is empty or has a match that can
        no longer be replayed, when the node has a replay that runs or the tenant too many, or the tenant no
        vhost; what `add` raises. `by` names who started it in the audit; `where` the options were in the
        request."""
        node = _node(node_id)
        if wrong := list(_wrong_options(options, where)):
            raise Invalid(*wrong)
        async with self.store.transaction() as tx:
            await tenants.lock_jobs(tx, tenant.id)
            present = await tenants.get(tx, tenant.id)
            if present is None or not present.amqp:
                what = "Replays are published over AMQP, and this tenant has no vhost yet: ask for it."
                raise Conflict(what, code="no_vhost")
            job = await replay_jobs.newest(tx, tenant.id, node)
            if job is not None and job.open:
                raise Conflict("A replay runs already: stop it first.", code="replay_running")
            if await replay_jobs.open_count(tx, tenant.id) >= MAX_OPEN:
                what = f"{MAX_OPEN} replays run already: stop one first."
                raise Conflict(what, code="replays_running", limit=MAX_OPEN, retry_after=_RETRY_SECONDS)
            if refs is not None:
                await replay_jobs.clear_events(tx, tenant.id, node)
                for ref in refs:
                    match = await _match(tx, tenant, ref, finished_only=finished_only)
                    await replay_jobs.add_event(tx, tenant.id, node, match.id)
            listed = await _listed(tx, tenant, node, options, finished_only=finished_only)
            now = self.clock()
            return await replay_jobs.start(tx, tenant.id, node, listed, options, now, by=by)


def options_of(parameters: ReplayParameters) -> ReplayOptions:
    """The options that a query names, the rest as established feeds have them. Raises `Invalid`."""
    wrong: list[Field] = []
    values: dict[str, object] = {}
    for name in ("speed", "max_delay"):
        text = getattr(parameters, name)
        if text is None:
            continue
        if not _NUMBER.match(text) or (name == "max_delay" and not text.removeprefix("-").isdigit()):
            wrong.append(Field(("query", name), "Send a number.", "number", text))
        else:
            values[name] = float(text) if name == "speed" else int(text)
    for name, sent in (("parallel", "run_parallel"), ("rewrite_timestamps", "use_replay_timestamp")):
        text = getattr(parameters, name)
        if text is None:
            continue
        if text.lower() not in _WORDS:
            wrong.append(Field(("query", sent), "Send true or false.", "bool", text))
        else:
            values[name] = _WORDS[text.lower()]
    if wrong:
        raise Invalid(*wrong)
    return msgspec.convert(values, ReplayOptions)


def _node(node_id: str | None) -> str:
    """The node of an id as it was sent; None: "". Raises `Invalid`."""
    if node_id is None:
        return ""
    if not is_node_or_request_id(node_id):
        what = "Send a positive whole number: digits only, the first one not 0, at most 64."
        raise Invalid(Field(("query", "node_id"), what, "positive_integer", node_id))
    return node_id


def _wrong_options(options: ReplayOptions, where: str) -> Iterator[Field]:
    if not MIN_SPEED <= options.speed <= MAX_SPEED:
        what = f"{MIN_SPEED} to {MAX_SPEED:.0f}; for as fast as it goes send max_delay 0."
        yield Field((where, "speed"), what, "range", options.speed, {"lowest": 0, "highest": int(MAX_SPEED)})
    if not 0 <= options.max_delay <= MAX_DELAY_MILLIS:
        limits = {"lowest": 0, "highest": MAX_DELAY_MILLIS}
        what = f"0 to {MAX_DELAY_MILLIS} ms."
        yield Field((where, "max_delay"), what, "range", options.max_delay, limits)


async def _match(tx: Tx, tenant: Tenant, ref: str, *, finished_only: bool) -> Match:
    """A match that the tenant can replay."""
    match = await matches.by_ref(tx, ref, finished_only=finished_only, parameter=("path", "event_id"))
    if not await tenants.booked(tx, tenant.id, [match.id]):
        what = f"Your tenant has not booked match {ref!r}, and a replay is of booked ones: book it first."
        raise NotFound(what, code="not_booked", match=ref)
    if not match.over:
        what = f"Match {ref!r} is not over: it can be replayed once it is."
        raise Conflict(what, code="not_over", match=ref)
    if not await kept_changes.whole(tx, [match.id]):
        what = f"Match {ref!r} is not kept whole; GET /cs2/v1/replay/matches lists those that are."
        raise NotFound(what, code="not_kept", match=ref)
    return match


async def _listed(
    tx: Tx, tenant: Tenant, node: str, options: ReplayOptions, *, finished_only: bool
) -> list[UUID]:
    """The matches of the list, all of which can be replayed."""
    listed = await replay_jobs.events(tx, tenant.id, node, finished_only=finished_only)
    if not listed:
        raise Conflict("The list is empty: add a match first.", code="list_empty")
    if options.parallel and len(listed) > MAX_PARALLEL:
        what = f"{MAX_PARALLEL} matches at most are replayed in parallel; {len(listed)} are in the list."
        raise Conflict(what, code="too_many_parallel", limit=MAX_PARALLEL)
    ids = [one.id for one in listed]
    possible = await kept_changes.whole(tx, ids) & await tenants.booked(tx, tenant.id, ids)
    if gone := [match_urn(one.number) for one in listed if one.id not in possible]:
        what = f"No longer booked, or not kept whole any more: {', '.join(gone)}. Remove them from the list."
        raise Conflict(what, code="not_kept", match=gone[0])
    return ids
