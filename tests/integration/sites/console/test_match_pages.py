"""The pages of a match, of its markets and of the ledger."""

from decimal import Decimal

from msgspec.structs import replace

from app.commands import match_references, reference_import
from app.commands.reference_import import ImportedPrice
from app.commands.trading_commands import SetMaxMove
from app.domain import changes as c
from app.domain.ids import match_urn
from app.domain.match import MapPlay, Restart, Round, Status
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.tenant import OperatorRole
from app.kit.clock import system_clock
from app.sites.console.site import market_path
from app.store.connections import Store
from app.trading.pricing import PricingConfig
from tests.integration.sites.console.conftest import SignIn
from tests.support.matches import execute
from tests.support.portal import Person
from tests.support.stored import ledger
from tests.support.story import Story, kill, offer

_CLOSING_LINE = "/console/closing-line"


async def test_the_markets_of_a_match_by_group_with_margin(person: Person, story: Story) -> None:
    one = offer(1, group="round_winner:map=1|round=1", odds=Decimal("1.9"))
    match = await story.match(one, replace(one, specifiers="map=1|round=1|team=away"))
    path = f"/console/matches/{match_urn(match.number)}"
    page = await person.get(path)
    assert page.text.count("5.3 %") == 1, "2 / 1.9 - 1"
    assert "<i>Northwind</i> <b>1.9</b>" in page.text and "<i>Harbour</i> <b>1.9</b>" in page.text
    assert 'action="' + path not in page.text, "a viewer is offered no command"
    await story.settle(match, one)
    closed = await person.get(f"{path}/closed")
    assert "Map 1, round 1: Northwind to win" in closed.text and "<b>won</b>" in closed.text


async def test_a_match_shows_the_market_beside_ours(person: Person, store: Store, story: Story) -> None:
    match = await story.match(offer(1), status=Status.UPCOMING)
    path = f"/console/matches/{match_urn(match.number)}"
    assert "No references." in (await person.get(path)).text
    assert "Цен рынка нет." in (await person.get(path, headers={"Accept-Language": "ru"})).text
    now = system_clock()
    rows = [
        ImportedPrice(
            source="exchange", match=str(match.id), specifiers=f"team={team}", odds=odds, at=now - 120_000
        )
        for team, odds in (("home", 1.61), ("away", 2.42))
    ]
    async with store.transaction() as tx:
        placed = [(("rows", at), row) for at, row in enumerate(rows)]
        await reference_import.import_references(tx, placed, by="tester", now=now)
    await match_references.refresh(store, [match.id], now, PricingConfig())
    page = (await person.get(path)).text
    assert "Prices follow them." in page
    assert all(text in page for text in (">exchange<", ">1.61<", ">2.42<", ">2<"))


async def test_our_prices_are_compared_with_the_market_by_what_came(
    person: Person, store: Store, story: Story
) -> None:
    assert "No match with reference prices has a result yet." in (await person.get(_CLOSING_LINE)).text
    match = await story.match(
        *(offer(1, type_id=1, specifiers=f"team={team}", group="match_winner:") for team in ("home", "away")),
        status=Status.UPCOMING,
    )
    now = system_clock()
    rows = [
        ImportedPrice(source="one", match=str(match.id), specifiers=f"team={team}", odds=odds, at=now - 5000)
        for team, odds in (("home", 1.61), ("away", 2.42))
    ]
    async with store.transaction() as tx:
        placed = [(("rows", at), row) for at, row in enumerate(rows)]
        await reference_import.import_references(tx, placed, by="tester", now=now)
    await match_references.refresh(store, [match.id], now, PricingConfig())
    async with store.transaction() as tx:
        await tx.execute("UPDATE match SET started_at = $1", now)
        won = "CASE specifiers WHEN 'team=home' THEN 'won' ELSE 'lost' END"
        await tx.execute(f"UPDATE market SET result = {won}")
    page = (await person.get(_CLOSING_LINE)).text
    assert "at the start" in page and ">match_winner<" in page and "1:team=home" in page


async def test_prices_stand_beside_what_happened(person: Person, store: Store, story: Story) -> None:
    match = await story.match(offer(1))
    killed = kill(story.at + 5, 5, "Ann <b>")
    played = Round(2, 1, 1, "home", "CT", "kills", 1, 0, story.at, story.at + 9, events=(1,))
    await story.happen(match, c.EventAdded(killed), c.RoundFinished(played))
    await execute(store, match, SetMaxMove(max_move=0.3), story.at + 99, by="operator tara")
    own = market_path(match.number, offer(1).key)
    page = await person.get(own)
    assert "operator tara: Limit price moves" in page.text
    assert "Ann &lt;b&gt; (Northwind) killed Bob, ak47" in page.text
    assert "Map 1, round 1: Northwind, all opponents killed, 1:0" in page.text
    russian = await person.get(own, headers={"Accept-Language": "ru"})
    assert "Карта 1, раунд 1: Northwind" in russian.text
    chart = (await person.get(f"{own}/chart.json")).json()
    assert [fact[2] for fact in chart["facts"]] == ["kill", "round", "command"] and len(chart["points"]) == 2


async def test_an_entry_has_its_evidence(person: Person, store: Store, story: Story) -> None:
    match = await story.match(offer(1), maps=(MapPlay(1, "de_dust2", "live"),))
    await story.happen(match, c.RoundFinished(Round(2, 1, 1, "home", "CT", "kills", 1, 0, 5, 9)))
    entry = LedgerEntry(
        *offer(1).key, LedgerStatus.PENDING, LedgerStatus.SETTLED, None, "by the round", rests_on=(2,)
    )
    await story.record(match, offer(1), entry)
    (stored,) = await ledger(store, match)
    page = await person.get(f"/console/settlements/{stored.id}")
    assert "Won by Northwind (CT):" in page.text
    listed = await person.get(f"/console/settlements?match={match_urn(match.number)}")
    assert f'href="/console/settlements/{stored.id}"' in listed.text


async def test_what_does_not_exist_is_a_page(person: Person) -> None:
    for path, status in [
        ("/console/matches/od:match:999999", 404),
        ("/console/matches/nonsense", 422),
        ("/console/settlements/999999", 404),
        ("/console/settlements?before=x", 422),
        ("/console/audit?before=-1", 422),
    ]:
        page = await person.get(path)
        assert page.status_code == status and page.headers["content-type"].startswith("text/html"), path


async def test_a_market_that_does_not_exist_is_a_page(person: Person, store: Store) -> None:
    match = await Story(store).match()
    for name in ("9:x", "nonsense", "13:map=1%7Cround=9%7Cteam=home"):
        page = await person.get(f"/console/matches/{match_urn(match.number)}/markets/{name}")
        assert page.status_code == 404 and "<html" in page.text


async def test_a_restart_in_doubt_is_decided_where_it_is_seen(sign_in: SignIn, story: Story) -> None:
    """Both scores and the two commands; a trader, who may not settle, is not offered them."""
    before = MapPlay(1, "de_nuke", "live", home_score=7, away_score=5, home_side="CT")
    since = MapPlay(1, "de_nuke", "live", home_score=3, away_score=1, home_side="CT")
    match = await story.match(maps=(before,), restart=Restart(since, "server"))
    path = f"/console/matches/{match_urn(match.number)}"
    page = await (await sign_in(OperatorRole.SETTLER)).get(path)
    assert "Played before: 7:5. Since then: 3:1." in page.text
    for tag in ("keep_branch", "accept_restart"):
        assert 'id="restart"' in page.text and f'name="command" value="{tag}"' in page.text
    assert 'id="restart"' not in (await (await sign_in(OperatorRole.TRADER)).get(path)).text
