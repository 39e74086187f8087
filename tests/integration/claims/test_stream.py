"""The steps of a claim on the stream and in changes, for its tenant alone; and what else reads the change log
shows nothing of them."""

import gzip
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from app.amqp.envelope import EnvelopeRenderer
from app.domain.daily_files import FileFormat
from app.files import making
from app.files.directory import FileDirectory
from app.settings import Settings
from app.store import changes, kept_changes
from app.store.connections import Store
from tests.support import stored
from tests.support.changes import events, pages, requesting
from tests.support.claims import Dispute
from tests.support.replays import prune_all
from tests.support.streaming import Message, streaming, subscribed, until_alive, until_present
from tests.support.tenants import give_profile, give_vhost
from tests.support.web import IssueKey

STEPS = ["claim.opened", "claim.taken", "claim.upheld", "claim.corrected"]


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[str]:
    fast = {"stream_poll_all_millis": 100, "stream_poll_match_millis": 100, "alive_seconds": 1}
    async with streaming(msgspec.structs.replace(settings, **fast)) as host:
        yield host


def raw(dispute: Dispute, who: str) -> str:
    return dispute.keys[who]["X-API-Key"]


def of_claims(frames: list[Message]) -> list[Message]:
    return [frame for frame in frames if frame["type"].startswith("claim.")]


async def every_step(dispute: Dispute) -> None:
    await dispute.make()
    await dispute.take()
    assert (await dispute.uphold_old()).status_code == 202
    assert (await dispute.give_consent()).status_code == 200


def check(frames: list[Message], dispute: Dispute, shown: dict[str, Any]) -> None:
    """The claimant's frames: each step, in order among all others."""
    seqs = [frame["meta"]["seq"] for frame in frames if frame["type"] != "alive"]
    assert seqs == sorted(seqs)
    own = of_claims(frames)
    assert [frame["type"] for frame in own] == STEPS
    assert {frame["data"]["id"] for frame in own} == {dispute.claim}
    assert own[-1]["data"] == shown
    results = [frame for frame in frames if frame["type"] == "bet_settlement"]
    assert [frame["data"]["outcome"] for frame in results] == [None, "lost"]
    assert own[-1]["data"]["correction_id"] == results[-1]["meta"]["seq"] < own[-1]["meta"]["seq"]


@pytest.mark.parametrize("profile", [False, True])
@pytest.mark.parametrize("one", [False, True])
async def test_each_step_is_sent_to_its_tenant_alone(
    host: str, dispute: Dispute, profile: bool, one: bool
) -> None:
    if profile:
        await give_profile(dispute.store, 0.2)
    ref, since = str(dispute.match.id) if one else "", await stored.head(dispute.store)
    who = ("acme", "rival", "house")
    async with AsyncExitStack() as stack:
        clients = {
            each: await stack.enter_async_context(subscribed(host, raw(dispute, each), ref)) for each in who
        }
        for client in clients.values():
            assert of_claims(await until_alive(client)) == []
        await every_step(dispute)
        live = {each: await until_present(client, dispute.store) for each, client in clients.items()}
    shown = await dispute.shown()
    check(live["acme"], dispute, shown)
    for each in who:
        async with subscribed(host, raw(dispute, each), ref, since=since) as client:
            resumed = await until_alive(client)
        async with requesting(host, raw(dispute, each)) as http:
            match = {"match": ref} if one else {}
            found, _ = await pages(http, since_seq=since, limit=2, **match)
        paged = [frame for part in found for frame in part]
        async with events(host, raw(dispute, each), since_seq=since, **match) as client:
            sent = [event.data for event in await client.until("alive")]
        assert of_claims(sent) == of_claims(resumed)
        async with subscribed(host, raw(dispute, each), ref) as client:
            assert of_claims(await until_alive(client)) == [], "a snapshot has no claims"
        if each == "acme":
            check(resumed, dispute, shown)
            check(paged, dispute, shown)
        else:
            assert dispute.claim not in msgspec.json.encode([live[each], resumed, paged]).decode()


async def test_a_key_without_the_streams_markets_receives_none(
    host: str, dispute: Dispute, issue: IssueKey
) -> None:
    scopes = frozenset({"cs2:stream:matches", "cs2:markets:settlements"})
    key, since = await issue(scopes=scopes), await stored.head(dispute.store)
    await every_step(dispute)
    async with subscribed(host, key, since=since) as client:
        assert of_claims(await until_alive(client)) == []


async def test_a_key_for_finished_matches_receives_those_of_finished_ones(
    host: str, dispute: Dispute, issue: IssueKey
) -> None:
    scopes = frozenset({"cs2:stream:markets", "cs2:markets:settlements"})
    key, since = await issue(scopes=scopes, finished_only=True), await stored.head(dispute.store)
    await dispute.make()
    async with subscribed(host, key, since=since) as client:
        assert of_claims(await until_alive(client)) == []
    await dispute.story.finish(dispute.match)
    async with subscribed(host, key, since=since) as client:
        await until_present(client, dispute.store)  # the process knows that it is finished
    async with subscribed(host, key, since=since) as client:
        assert [each["type"] for each in of_claims(await until_alive(client))] == STEPS[:1]


async def test_a_key_for_finished_matches_receives_steps_as_they_happen(
    host: str, dispute: Dispute, issue: IssueKey
) -> None:
    """Also of a match that a snapshot does not have any more."""
    scopes = frozenset({"cs2:stream:markets", "cs2:markets:settlements"})
    key = await issue(scopes=scopes, finished_only=True)
    await dispute.story.finish(dispute.match)
    async with subscribed(host, key) as client:
        await until_alive(client)
        await every_step(dispute)
        live = await until_present(client, dispute.store)
    assert [each["type"] for each in of_claims(live)] == STEPS


async def test_every_step_leaves_the_feed_as_it_was(dispute: Dispute) -> None:
    """AMQP has the correction alone, and the chain of its envelopes no gap."""
    await give_vhost(dispute.store)
    begun = await stored.head(dispute.store)
    before = (await stored.present(dispute.store, dispute.match)).last_seq
    await every_step(dispute)
    rows = await stored.changes_after(dispute.store, begun)
    assert [row.entity for row in rows].count(changes.CLAIM) == len(STEPS)
    for row in rows:
        if row.entity == changes.CLAIM:
            assert (row.frame, row.message) == ("", "")
            assert changes.tenant_of(row) == UUID(row.key.partition(" ")[0])
    envelopes = [each for each in EnvelopeRenderer("oddsfeed", 2).envelopes(rows) if each.frames]
    names = [each.name for each in envelopes]
    assert [each for each in names if each != "odds_change"] == ["rollback_bet_settlement", "bet_settlement"]
    assert [each.prev_seq for each in envelopes] == [before, *(each.seq for each in envelopes[:-1])]
    assert all(each.tenant_id is None for each in envelopes)
    assert (await stored.present(dispute.store, dispute.match)).last_seq == envelopes[-1].seq
    assert not [each for each in envelopes if dispute.claim.encode() in each.frames]


async def test_what_is_kept_of_a_match_has_claims_and_is_whole(dispute: Dispute, tmp_path: Path) -> None:
    """Replays read it, and publish messages only; daily files have markets, results and play."""
    match = await dispute.story.announce()
    await dispute.story.start(match)
    await dispute.story.offer(match, dispute.market)
    await dispute.story.settle(match, dispute.market)
    dispute.match = match
    await every_step(dispute)
    await dispute.story.finish(match)
    await dispute.make(expected="won")
    await dispute.story.match(dispute.market)  # the change log ends with another match
    await prune_all(dispute.store)
    async with dispute.store.snapshot() as tx:
        assert await kept_changes.whole(tx, [match.id]) == {match.id}
        rows = await kept_changes.read(tx, match.id)
    assert [row.entity for row in rows].count(changes.CLAIM) == len(STEPS) + 1
    day = datetime.fromtimestamp(dispute.clock.now / 1000, UTC).date()
    directory = FileDirectory(tmp_path)
    made = await making.make_day(dispute.store, directory, day, lambda: dispute.clock.now + 2 * 86_400_000)
    assert made.files
    written = [
        gzip.decompress(directory.path.joinpath(str(day), each.stored_name).read_bytes())
        for each in made.made
        if each.form is FileFormat.CSV
    ]
    assert written and not [each for each in written if dispute.claim.encode() in each]


async def test_a_claim_hides_no_change_of_the_match(host: str, dispute: Dispute, store: Store) -> None:
    """The match and its markets are as new as they were before."""
    async with store.snapshot() as tx:
        before = await changes.newest_seqs(tx, [dispute.match.id])
    await dispute.make()
    async with store.snapshot() as tx:
        assert await changes.newest_seqs(tx, [dispute.match.id]) == before
