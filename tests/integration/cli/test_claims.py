"""Claims on the command line: made and withdrawn for a tenant, decided by operators."""

import asyncio

from app.access import admin
from app.domain.market import Market
from app.domain.match import Match
from app.settings import Settings
from app.store.connections import open_store
from tests.support.command_line import Run
from tests.support.story import Story

MARKET = "13:map=1|round=1|team=home"


def begin(settings: Settings) -> tuple[Match, Market]:
    """A match with a result, and a tenant."""

    async def work() -> tuple[Match, Market]:
        async with await open_store(settings.database_url, 1) as store:
            async with store.transaction() as tx:
                await admin.create_tenant(tx, "acme", "Acme", by="tester", now=1)
            return await Story(store).settled()

    return asyncio.run(work())


def test_claims_are_made_decided_and_withdrawn(run: Run, settings: Settings) -> None:
    match, _ = begin(settings)
    urn = f"od:match:{match.number}"

    def printed(*words: str, fails: bool = False) -> str:
        result = run("claim", *words)
        assert (result.exit_code != 0) is fails, result.output
        return result.output if fails else result.stdout

    def make(reason: str, expected: str = "lost", *, fails: bool = False) -> str:
        return printed("make", "acme", urn, MARKET, expected, "--reason", reason, fails=fails)

    assert printed("list") == "no undecided claim\n"
    line = make("away won it")
    number = line.split()[0]
    assert line.startswith(f"{number} open, due ")
    assert line.endswith(f" acme {urn} {MARKET}: won should be lost\n")
    assert printed("list") == line
    assert "undecided" not in line and number in make("again", fails=True)
    assert "market_offer_id" in printed("make", "acme", urn, "round 13", "lost", "--reason", "x", fails=True)
    shown = printed("show", number)
    assert "reason: away won it" in shown and "(contested)" in shown
    assert "(taken by cli:" in printed("take", number)
    assert printed("withdraw", "acme", number).startswith(f"{number} withdrawn acme")
    assert "cannot be changed" in printed("answer", number, "home won it", fails=True)
    second = make("away won it, really").split()[0]
    assert printed("answer", second, "home won it").startswith(f"{second} answered")
    third = make("look again").split()[0]
    upheld = printed("uphold", third, "--reason", "defused in time", "--answer", "You are right.")
    assert upheld.startswith(f"{third} corrected as entry ")
    shown = printed("show", third)
    assert "answer: You are right." in shown and "bet_settlement lost by admin: defused in time" in shown
    assert printed("list") == "no undecided claim\n"
    listed = printed("list", "--all", "--tenant", "acme", "--match", urn).splitlines()
    assert [each.split()[0] for each in listed] == [third, second, number]
    assert "There is no claim" in printed("show", "00000000-0000-0000-0000-000000000000", fails=True)


def test_texts_are_as_the_api_accepts_them(run: Run, settings: Settings) -> None:
    """They come into the ledger and to the tenant, however they were sent."""
    match, _ = begin(settings)

    def output(*words: str) -> tuple[int, str]:
        result = run("claim", *words)
        return result.exit_code, result.output

    claimed = "make", "acme", f"od:match:{match.number}", MARKET, "lost", "--reason"
    for wrong in ("", "x" * 501, "a\u202eb"):
        code, said = output(*claimed, wrong)
        assert code != 0 and "--reason has 1 to 500 characters" in said
    assert output(*claimed, "x", "--evidence", "x" * 4_001)[0] != 0
    assert output(*claimed, "x", "--request-id", "")[0] != 0
    _, line = output(*claimed, "it's \u2028 «away»")
    number = line.split()[0]
    assert output("answer", number, "x" * 501)[0] != 0
    for wrong in ("", "x" * 501, "a\u202eb"):
        assert output("uphold", number, "--reason", wrong)[0] != 0
        assert wrong == "" or output("uphold", number, "--reason", "x", "--answer", wrong)[0] != 0
    assert " open, " in output("list")[1]
