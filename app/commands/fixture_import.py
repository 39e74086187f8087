"""Matches from fixtures of other sources: one that is new creates a match, one that has changed changes its
match before play, by the commands that operators send.

A fixture is compared with what was imported of it last, not with its match: what an operator has changed
since then stays until the source changes it, too.
"""

from collections.abc import Sequence
from uuid import UUID, uuid4

from app.commands import creation, execution
from app.commands.creation import NewMatch
from app.commands.execution import Sender
from app.commands.match_commands import Cancel, Command, Schedule, SetFormat, SetTeams
from app.domain.match import BEFORE_PLAY, Match
from app.domain.reference_reports import Fixture, FixtureChange
from app.kit.errors import Field, Invalid
from app.store import matches, reference_imports
from app.store.transaction import Tx
from app.trading.pricing import PricingConfig

_LATE_MILLIS = 86_400_000  #: a fixture that began longer ago than this creates no match
_FIXED = ("event", "tournament_id")
_TEAMS = ("team_a", "team_b", "id_a", "id_b")


async def import_fixture(
    tx: Tx, fixture: Fixture, *, by: str, now: int, pricing: PricingConfig
) -> FixtureChange | None:
    """Create or change the match of a fixture; None if there is nothing to do.

    Raises `Invalid` with the fixture's field, or `Conflict`, if that is refused; then the transaction must
    not be committed.
    """
    match_id = uuid4()
    known = await reference_imports.fixture(tx, fixture.reference)
    if known is None:
        if not _is_wanted(fixture, now):
            return None
        if await reference_imports.claim(tx, fixture, match_id):
            await creation.create_in(tx, _new(fixture), match_id, now, pricing, by=by)
            return FixtureChange(fixture.reference, "created", match_id=match_id)
        known = await reference_imports.fixture(tx, fixture.reference)
    if known is None or known.fixture == fixture:
        return None
    match = await matches.lock(tx, known.match_id)
    fields = _changed(known.fixture, fixture)
    for command in _commands(match, known.fixture, fixture):
        planned = await execution.plan(tx, match, command, Sender(by, by), now, pricing)
        match = await execution.carry_out(tx, planned, Sender(by, by))
    await reference_imports.save(tx, fixture)
    return FixtureChange(fixture.reference, "changed", fields, match.id)


async def plan_fixture(
    tx: Tx, fixture: Fixture, *, by: str, now: int, pricing: PricingConfig
) -> FixtureChange | None:
    """What `import_fixture` would do, without writing a match; raises what it would. Teams may be created in
    `tx`, which must be rolled back."""
    known = await reference_imports.fixture(tx, fixture.reference)
    if known is None:
        if not _is_wanted(fixture, now):
            return None
        await creation.resolved(tx, _new(fixture), UUID(int=0), 0, now)
        return FixtureChange(fixture.reference, "created")
    if known.fixture == fixture:
        return None
    match = await matches.by_ref(tx, str(known.match_id))
    fields = _changed(known.fixture, fixture)
    for command in _commands(match, known.fixture, fixture):
        match = (await execution.plan(tx, match, command, Sender(by, by), now, pricing)).update.after
    return FixtureChange(fixture.reference, "changed", fields, known.match_id)


def _is_wanted(fixture: Fixture, now: int) -> bool:
    """Whether a new fixture becomes a match; raises `Invalid` for one that is over."""
    if fixture.scheduled_at is not None and fixture.scheduled_at < now - _LATE_MILLIS:
        raise _refused(
            "scheduled_at", "It began more than a day ago: no match is created.", fixture.scheduled_at
        )
    return not fixture.cancelled


def _new(fixture: Fixture) -> NewMatch:
    if fixture.team_a == fixture.team_b:
        raise _refused("team_b", "A team does not play against itself.", fixture.team_b)
    return NewMatch(
        home=fixture.team_a,
        away=fixture.team_b,
        event=fixture.event,
        best_of=int(fixture.bo_type.removeprefix("bo")),
        scheduled_at=fixture.scheduled_at,
        home_id=fixture.id_a,
        away_id=fixture.id_b,
        tournament_id=fixture.tournament_id,
    )


def _changed(before: Fixture, after: Fixture) -> tuple[str, ...]:
    """The fields that differ."""
    return tuple(name for name in Fixture.__struct_fields__ if getattr(before, name) != getattr(after, name))


def _commands(match: Match, before: Fixture, after: Fixture) -> Sequence[Command]:
    """The commands that make a match's fixture the present one; raises `Invalid` with the first field that
    cannot be changed."""
    changed = _changed(before, after)
    if match.status not in BEFORE_PLAY:
        what = f"The match is {match.status.value}: a fixture changes only before play."
        raise _refused(changed[0], what, getattr(after, changed[0]))
    if after.cancelled:  # whatever else has changed: it must not stay on offer
        return [Cancel()]
    for name in _FIXED:
        if name in changed:
            what = "A match stays in its tournament: cancel the fixture, and list it under another id."
            raise _refused(name, what, getattr(after, name))
    found: list[Command] = []
    if not set(changed).isdisjoint(_TEAMS):
        teams = after.team_a, after.team_b
        found.append(SetTeams(team_a=teams[0], team_b=teams[1], id_a=after.id_a, id_b=after.id_b))
    if "bo_type" in changed:
        found.append(SetFormat(bo_type=after.bo_type))
    if "scheduled_at" in changed:
        if after.scheduled_at is None:
            raise _refused(
                "scheduled_at", "A start that was known is not taken back: give another one.", None
            )
        found.append(Schedule(scheduled_at=after.scheduled_at))
    return found


def _refused(field: str, what: str, given: object) -> Invalid:
    return Invalid(Field((field,), what, "fixture", given))
