"""What a transaction was given is stored so that the same comes out of it again."""

from typing import get_args

import msgspec
import pytest
from msgspec.structs import replace

from app.commands.match_inputs import (
    Cause,
    Commanded,
    Created,
    Given,
    Happened,
    Lines,
    MatchInput,
    Part,
    TimePassed,
    fields_between,
    given,
    input_of,
    pack,
    unpack,
    with_fields,
)
from app.domain.changes import AnyChange, DetailsChanged, MatchChange
from app.domain.doubts import SILENT, raise_doubt
from app.domain.facts import DataLost, EndOverdue
from app.domain.match import Match
from app.recompute.match_run import MatchRun
from app.sandbox.simulator.match_simulation import simulate
from app.trading import coefficients
from app.trading.pricing import PricingConfig
from tests.support.simulated import plan_of
from tests.unit.domain.play import new_match

PRICING = PricingConfig(margin=0.05)


@pytest.fixture(scope="module")
def states() -> list[Match]:
    """States of a match from its creation on."""
    plan = plan_of(3, brief=True)
    lines = [f"{line.text}\n" for line in simulate(plan)[0]][:900]
    match = replace(new_match(1), home=plan.home.name, away=plan.away.name)
    run = MatchRun(match, PRICING)
    run.open(plan.begin)
    found = [run.match]
    for number in range(0, len(lines), 100):
        run.lines("".join(lines[number : number + 100]).encode(), plan.begin + number * 1000)
        found.append(run.match)
    return found


def test_the_fields_that_differ_lead_from_any_state_to_any_other(states: list[Match]) -> None:
    assert len({msgspec.json.encode(one) for one in states}) > 5
    for before in states:
        assert fields_between(before, before) == {}
        for after in states:
            assert with_fields(before, fields_between(before, after)) == after


def test_what_was_read_from_elsewhere_is_the_difference_to_what_was_computed(states: list[Match]) -> None:
    computed = states[3]
    rated = replace(computed, home_strength=1612.5, home_strength_sd=40.1)
    found = input_of(
        states[2], TimePassed(), now=7, pricing=PRICING, computed=computed, after=rated, may_price=False
    )
    assert found.reads.keys() == {"home_strength", "home_strength_sd"}
    assert with_fields(computed, found.reads) == rated
    assert (found.at, found.may_price, found.coefficients) == (7, False, coefficients.version())


CAUSES: list[Cause] = [
    Created(new_match(1)),
    Lines((Part('L 01/01/2026 - 00:00:00: "ж"\n', 5, 9),), 9, (DataLost(at=5, reason="gap"),), True),
    Happened((EndOverdue(at=9),)),
    Commanded(msgspec.Raw(b'{"command":"suspend","reason":"checked"}')),
    TimePassed(),
    given(new_match(1), raise_doubt(new_match(1), SILENT, "silent"), (DetailsChanged(),), "silent"),
]


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: type(cause).__name__)
def test_an_input_is_read_as_it_was_stored(cause: Cause) -> None:
    stored = MatchInput(at=9, cause=cause, pricing=PRICING, after_seq=3, reads={"home": msgspec.Raw(b'"A"')})
    found = unpack(pack(stored))
    assert msgspec.json.encode(found) == msgspec.json.encode(stored)
    assert type(found.cause) is type(cause)


def test_every_cause_has_a_case() -> None:
    assert {type(cause) for cause in CAUSES} == set(get_args(Cause)) >= {Given}


def test_every_change_can_be_read() -> None:
    assert set(get_args(AnyChange)) == set(MatchChange.__subclasses__())
