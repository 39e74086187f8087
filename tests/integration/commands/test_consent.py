"""A command that changes what was published long ago waits for a second person, and does what they saw."""

import asyncio
from typing import Any

import pytest

from app.commands import match_commands as c
from app.commands import trading_commands as t
from app.commands.command_service import LASTS_SECONDS, CommandService
from app.commands.execution import Sender
from app.commands.match_commands import Command
from app.domain.market import Market, Result
from app.domain.match import Match
from app.kit.errors import Conflict, Forbidden, NotFound
from app.store import consent_requests, operator_commands
from app.store.connections import Store
from app.store.consent_requests import ConsentRequest, ConsentState
from tests.integration.commands.test_execution import FIRST, book, ledger
from tests.integration.ingest.conftest import CONFIG, Server
from tests.support import stored

SECONDS = 60
DECISION: dict[str, Any] = {"market_id": FIRST[0], "specifiers": FIRST[1], "reason": "wrong call"}
LOST = c.SettleMarket(result="lost", **DECISION)


class Desk:
    """Operators at a match with a result, and a clock; `wait` makes the result an old one."""

    def __init__(self, store: Store, match: Match, now: int) -> None:
        self.store, self.match, self.now = store, match, now
        self.service = CommandService(store, CONFIG.pricing, SECONDS)

    async def send(self, command: Command, by: str = "ann") -> Match | ConsentRequest:
        return await self.service.send(str(self.match.id), command, Sender(by, by), self.now)

    async def request(self, command: Command, by: str = "ann") -> ConsentRequest:
        found = await self.send(command, by)
        assert isinstance(found, ConsentRequest)
        return found

    async def give(self, request: ConsentRequest, by: str = "ben", fingerprint: str = "") -> ConsentRequest:
        seen = fingerprint or await self.fingerprint(request)
        return await self.service.give(request.id, seen, Sender(by, by), self.now)

    async def fingerprint(self, request: ConsentRequest) -> str:
        shown = await self.service.show(request.id, self.now)
        return shown.preview.fingerprint if shown.preview else "none"

    async def refuse(self, request: ConsentRequest, by: str = "ben") -> ConsentRequest:
        return await self.service.refuse(request.id, "it stands", Sender(by, by), self.now)

    def wait(self, seconds: int = SECONDS + 1) -> None:
        self.now += seconds * 1000

    async def market(self) -> Market:
        return (await book(self.store, self.match))[FIRST]


@pytest.fixture
async def desk(store: Store, match: Match, server: Server) -> Desk:
    """The first round's market was settled as won, more than a minute ago."""
    await server.begin()
    desk = Desk(store, match, server.now)
    assert isinstance(await desk.send(c.SettleMarket(result="won", **DECISION)), Match)
    desk.wait()
    return desk


CHANGES = [
    LOST,
    c.VoidMarket(**DECISION),
    c.RollBackMarket(**DECISION),
    c.RollBackMarket(release=True, **DECISION),
    t.Undo(of=1),
]


@pytest.mark.parametrize("command", CHANGES, ids=lambda one: type(one).__name__)
async def test_it_waits_and_is_executed_by_consent(store: Store, desk: Desk, command: Command) -> None:
    before, entries = await desk.market(), await ledger(store, desk.match, FIRST)
    seen = await desk.service.preview(str(desk.match.id), command, Sender("ann", "ann"), desk.now)
    assert seen.needs_consent
    request = await desk.request(command)
    assert request.state(desk.now) is ConsentState.WAITING
    assert request.fingerprint == seen.fingerprint
    assert (await desk.market(), await ledger(store, desk.match, FIRST)) == (before, entries)
    given = await desk.give(request)
    assert (given.state(desk.now), given.decided_by, given.revision) == (ConsentState.GIVEN, "ben", 2)
    assert await desk.market() != before
    assert (await ledger(store, desk.match, FIRST))[len(entries) :] == [
        (each.previous_status, each.new_status, each.settled_by) for each in seen.entries
    ]
    async with store.autocommit() as tx:
        (executed, _) = await operator_commands.listing(tx, desk.match.id, limit=10)
    records = await stored.records(store, desk.match.id, 3)
    assert (executed.actor, executed.consent_by) == ("ann", "ben")
    assert [(each.actor, each.action) for each in records] == [
        ("ann", f"match.{executed.name}"),
        ("ben", "consent.give"),
        ("ann", "consent.request"),
    ]
    assert records[0].details["consent_by"] == "ben"


async def test_bets_of_an_old_result_are_voided_and_restored_by_consent(desk: Desk) -> None:
    window = {"start_time": desk.now - 9, "end_time": desk.now - 5}
    await desk.give(await desk.request(c.VoidMarket(**DECISION, **window)))
    restore = c.RollBackMarket(**DECISION, **window)
    desk.wait()
    assert (await desk.give(await desk.request(restore))).revision == 3


async def test_what_is_new_or_changes_no_result_needs_nobody_else(desk: Desk) -> None:
    other = {"market_id": 6, "specifiers": "map=1|team=home", "reason": "a test"}
    for command in (
        c.SettleMarket(result="won", **other),  # it was open
        c.SettleMarket(result="lost", **other),  # its result is new
        t.SetMaxMove(max_move=0.5),
        c.Suspend(reason="look"),
    ):
        assert isinstance(await desk.send(command), Match)
    await desk.give(await desk.request(c.RollBackMarket(**DECISION)))
    assert isinstance(await desk.send(LOST), Match), "what was rolled back has no result"


async def test_without_the_setting_nothing_waits(store: Store, desk: Desk) -> None:
    service = CommandService(store, CONFIG.pricing)
    assert isinstance(await service.send(str(desk.match.id), LOST, Sender("ann", "ann"), desk.now), Match)


async def test_nobody_consents_to_their_own_command(store: Store, desk: Desk) -> None:
    request = await desk.request(LOST)
    with pytest.raises(Forbidden, match="second person"):
        await desk.give(request, by="ann")
    seen = await desk.fingerprint(request)
    with pytest.raises(Forbidden):
        await desk.service.give(request.id, seen, Sender("another key", "ann"), desk.now)
    assert (await desk.market()).result is Result.WON


async def test_it_is_decided_once(desk: Desk) -> None:
    request = await desk.request(LOST)
    seen = await desk.fingerprint(request)
    results = await asyncio.gather(
        desk.give(request, by="ben", fingerprint=seen),
        desk.give(request, by="cleo", fingerprint=seen),
        desk.refuse(request, by="dan"),
        return_exceptions=True,
    )
    decided = [each for each in results if isinstance(each, ConsentRequest)]
    assert len(decided) == 1
    assert all(isinstance(each, ConsentRequest | Conflict) for each in results)
    result = (await desk.market()).result
    assert result is (Result.LOST if decided[0].outcome == ConsentState.GIVEN else Result.WON)


async def test_a_refused_and_a_withdrawn_one_is_never_executed(store: Store, desk: Desk) -> None:
    refused = await desk.refuse(await desk.request(LOST))
    withdrawn = await desk.refuse(await desk.request(LOST), by="ann")
    assert (refused.outcome, refused.reason) == (ConsentState.REFUSED, "it stands")
    assert (withdrawn.outcome, withdrawn.decided_by) == (ConsentState.WITHDRAWN, "ann")
    for each in (refused, withdrawn):
        with pytest.raises(Conflict, match="decided before"):
            await desk.give(each)
    assert (await desk.market()).result is Result.WON
    actions = [each.action for each in await stored.records(store, desk.match.id, 4)]
    assert actions == ["consent.withdraw", "consent.request", "consent.refuse", "consent.request"]


async def test_it_expires(store: Store, desk: Desk) -> None:
    request = await desk.request(LOST)
    desk.wait(LASTS_SECONDS - 1)
    async with store.autocommit() as tx:
        assert [each.id for each in await consent_requests.waiting(tx, desk.now)] == [request.id]
    desk.wait(1)
    assert request.state(desk.now) is ConsentState.EXPIRED
    for decide in (desk.give, desk.refuse):
        with pytest.raises(Conflict, match="expired"):
            await decide(request)
    async with store.autocommit() as tx:
        assert await consent_requests.waiting(tx, desk.now) == []


async def test_who_consents_has_seen_what_it_does_now(desk: Desk) -> None:
    """The market was voided meanwhile: the same command now takes back another result."""
    request = await desk.request(LOST)
    seen = await desk.fingerprint(request)
    await desk.give(await desk.request(c.VoidMarket(**DECISION), by="cleo"))
    with pytest.raises(Conflict, match="something else now"):
        await desk.give(request, fingerprint=seen)
    assert (await desk.market()).result is Result.VOID
    await desk.give(request)
    assert (await desk.market()).result is Result.LOST


async def test_what_the_match_does_not_allow_any_more_is_refused(desk: Desk) -> None:
    first, second = await desk.request(LOST), await desk.request(LOST, by="cleo")
    await desk.give(first)
    shown = await desk.service.show(second.id, desk.now)
    assert shown.preview is None and shown.obstacle
    assert "by an operator already" in shown.obstacle.detail
    with pytest.raises(Conflict, match="by an operator already"):
        await desk.give(second, fingerprint=first.fingerprint)
    await desk.refuse(second)


async def test_commands_of_others_meanwhile_do_not_stop_it(desk: Desk) -> None:
    """The revision that its sender saw is for its sender; who consents sees the match as it is."""
    request = await desk.request(c.SettleMarket(result="lost", revision=1, **DECISION))
    await desk.send(t.SetMaxMove(max_move=0.5), by="cleo")
    assert (await desk.give(request)).revision == 3


async def test_a_command_with_an_id_waits_once(desk: Desk) -> None:
    command = c.SettleMarket(result="lost", request_id="ticket-1", **DECISION)
    sent = await asyncio.gather(*(desk.request(command) for _ in range(3)))
    assert len({each.id for each in sent}) == 1
    with pytest.raises(Conflict, match="another command"):
        await desk.send(c.VoidMarket(request_id="ticket-1", **DECISION))
    given = await desk.give(sent[0])
    assert await desk.request(command) == given, "and is not executed again"


async def test_there_is_no_such_request(desk: Desk) -> None:
    request = await desk.request(LOST)
    for number in (0, request.id + 99, 2**63):
        with pytest.raises(NotFound):
            await desk.service.show(number, desk.now)
