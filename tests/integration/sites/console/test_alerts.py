"""Alerts in the console: seen, taken and ended by buttons that need no script, and on record afterwards."""

import pytest

from app.domain.ids import match_urn
from app.domain.match import Match
from app.domain.tenant import OperatorRole
from app.sites.console.site import Permission, allowed
from app.store import alerts
from app.store.alerts import Alert, AlertKind, AlertSubject
from app.store.connections import Store
from tests.integration.sites.console.conftest import SignIn
from tests.support.stored import all_alerts
from tests.support.story import Story


@pytest.fixture
async def match(story: Story) -> Match:
    return await story.match()


@pytest.fixture
async def alert(store: Store, match: Match) -> Alert:
    async with store.transaction() as tx:
        await alerts.begin(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match.id), "a batch", 1)
    return await present(store)


async def present(store: Store) -> Alert:
    """The only alert."""
    (alert,) = await all_alerts(store)
    return alert


async def test_an_alert_is_seen_taken_and_ended(
    sign_in: SignIn, store: Store, match: Match, alert: Alert
) -> None:
    person, path = await sign_in(OperatorRole.TRADER), f"/console/matches/{match_urn(match.number)}"
    for page in ("/console", path):
        shown = (await person.get(page)).text
        assert "nobody has seen it" in shown and f'formaction="/console/alerts/{alert.id}/see"' in shown
    for action in ("see", "take", "hand_back", "end"):
        done = await person.post(f"/console/alerts/{alert.id}/{action}", back=path)
        assert done.headers["location"] == f"{path}?done=command_done"
        if action == "take":
            assert f"taken by <b>operator {person.email}</b>" in (await person.get("/console")).text
    assert (await present(store)).ended_by == f"operator {person.email}"
    live = (await person.get("/console")).text
    assert "<tr data-key=" not in live.partition('data-rows="alerts"')[2].partition("</table>")[0]
    past = (await person.get("/console/alerts")).text
    assert past.count(f"operator {person.email}") == 2, "who saw it, and who ended it; it was handed back"


async def test_the_later_of_two_reads_who_has_it_and_may_take_over(
    sign_in: SignIn, store: Store, alert: Alert
) -> None:
    first, second = await sign_in(OperatorRole.TRADER), await sign_in(OperatorRole.SETTLER)
    await first.post(f"/console/alerts/{alert.id}/take")
    refused = await second.post(f"/console/alerts/{alert.id}/take")
    assert refused.status_code == 409
    assert f"operator {first.email} has this alert since" in refused.text
    assert f'name="instead_of" value="operator {first.email}"' in refused.text
    taken = await second.post(f"/console/alerts/{alert.id}/take", instead_of=f"operator {first.email}")
    assert taken.status_code == 303
    assert (await present(store)).taken_by == f"operator {second.email}"


@pytest.mark.parametrize("role", list(OperatorRole))
async def test_who_may_handle_alerts(sign_in: SignIn, store: Store, alert: Alert, role: OperatorRole) -> None:
    person, may = await sign_in(role), Permission.ALERTS in allowed(role)
    assert ('form="handle"' in (await person.get("/console")).text) is may
    for action in ("see", "take", "hand_back", "end"):
        done = await person.post(f"/console/alerts/{alert.id}/{action}")
        assert done.status_code == (303 if may else 403)
    assert ((await present(store)).ended_at is not None) is may


async def test_what_is_not_an_action_is_refused(sign_in: SignIn, alert: Alert) -> None:
    person = await sign_in(OperatorRole.ADMIN)
    assert (await person.post(f"/console/alerts/{alert.id}/burn")).status_code == 422
    assert (await person.post(f"/console/alerts/{alert.id + 9}/see")).status_code == 404
    done = await person.post(f"/console/alerts/{alert.id}/see", back="//evil.test/console/")
    assert done.headers["location"].startswith("/console?")
