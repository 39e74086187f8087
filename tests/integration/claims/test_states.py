"""Who may do what with a claim in which state: the table of docs/claims.md, each cell of it."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.claims import Dispute

_DOCUMENT = Path(__file__).parents[3] / "docs" / "claims.md"
_CELL = re.compile(r"^(?:`(\w+)`|(\d{3}))$")
Step = Callable[[Dispute], Awaitable[Any]]


async def _taken(dispute: Dispute) -> None:
    (await dispute.take("second")).raise_for_status()


async def _changed(dispute: Dispute) -> None:
    await dispute.roll_back()


async def _waiting(dispute: Dispute) -> None:
    assert (await dispute.uphold_old()).status_code == 202


async def _refused(dispute: Dispute) -> None:
    await _waiting(dispute)
    await dispute.refuse_consent()


async def _waiting_changed(dispute: Dispute) -> None:
    await _waiting(dispute)
    await dispute.roll_back()


async def _nothing(dispute: Dispute) -> None:
    pass


STATES: dict[str, Step] = {
    "`open`": _nothing,
    "`open`, taken by another operator": _taken,
    "`open`, its result changed since": _changed,
    "`upheld`, consent waits": _waiting,
    "`upheld`, consent was refused": _refused,
    "`upheld`, its result changed since": _waiting_changed,
    "`answered`": Dispute.answer,
    "`corrected`": Dispute.uphold,
    "`withdrawn`": Dispute.withdraw,
}
ACTIONS: dict[str, Callable[..., Awaitable[httpx.Response]]] = {
    "withdraw": Dispute.withdraw,
    "take": Dispute.take,
    "answer": Dispute.answer,
    "uphold": Dispute.uphold,
    "uphold, an old result": Dispute.uphold_old,
    "consent": Dispute.give_consent,
}
#: Who is refused each action in every state, and how.
STRANGERS = {
    "read": {"rival": 404, "house": 404},
    "withdraw": {"rival": 404, "house": 404},
    "take": {"acme": 403, "rival": 403},
    "answer": {"acme": 403, "rival": 403},
    "uphold": {"acme": 403, "rival": 403},
}


def _table() -> dict[tuple[str, str], str]:
    """The documented cells: what an action does in a state; those without a meaning are omitted."""
    lines = [line for line in _DOCUMENT.read_text().splitlines() if line.startswith("| ")]
    begin = next(at for at, line in enumerate(lines) if line.startswith("| the claim is |"))
    actions = [cell.strip() for cell in lines[begin].strip("|").split("|")][1:]
    cells: dict[tuple[str, str], str] = {}
    for line in lines[begin + 1 : begin + 1 + len(STATES)]:
        state, *found = [cell.strip() for cell in line.strip("|").split("|")]
        cells |= {(state, action): cell for action, cell in zip(actions, found, strict=True) if cell != "–"}
    return cells


TABLE = _table()


def test_the_table_has_every_state_and_action() -> None:
    assert {state for state, _ in TABLE} == set(STATES)
    assert {action for _, action in TABLE} == set(ACTIONS)
    assert all(_CELL.match(cell) for cell in TABLE.values())


@pytest.mark.parametrize(("state", "action"), TABLE)
async def test_an_action_does_what_the_table_says(dispute: Dispute, state: str, action: str) -> None:
    assert (await dispute.make()).status_code == 201
    await STATES[state](dispute)
    before = await dispute.shown()
    assert f"`{before['state']}`" == state.partition(",")[0]
    answer = await ACTIONS[action](dispute)
    cell = _CELL.match(TABLE[state, action])
    assert cell
    after = await dispute.shown()
    if cell[2]:
        assert answer.status_code == int(cell[2]), answer.text
        assert len(answer.json()["detail"]) > 20
        assert after == before
    else:
        assert answer.is_success, answer.text
        assert after["state"] == cell[1]


@pytest.mark.parametrize("state", STATES)
async def test_strangers_are_refused_in_every_state(dispute: Dispute, state: str) -> None:
    await dispute.make()
    await STATES[state](dispute)
    before = await dispute.shown()
    for name, refused in STRANGERS.items():
        act = ACTIONS.get(name, Dispute.read)
        for who, status in refused.items():
            answer = await act(dispute, who)
            assert answer.status_code == status, (name, who, answer.text)
    assert await dispute.shown() == before


async def test_who_upheld_it_cannot_consent(dispute: Dispute) -> None:
    await dispute.make()
    await _waiting(dispute)
    refused = await dispute.give_consent("house")
    assert refused.status_code == 403 and "second person" in refused.json()["detail"]
