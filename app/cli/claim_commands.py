"""Claims that results are wrong, on the command line: for tenants, and for the operators who decide."""

from uuid import UUID

import click

from app.claims import answer as answers
from app.claims import steps
from app.claims.request import ClaimService, WantedClaim
from app.cli.connections import command_store
from app.cli.match_control_commands import command_service, sender
from app.cli.runtime import actor, async_command, load_settings, print_line, print_list
from app.commands.match_commands import UpholdClaim
from app.domain.claims import MAX_EVIDENCE, MAX_REASON, Claim, ClaimState
from app.domain.ids import match_urn
from app.domain.market import Result, key_of_name
from app.domain.settlement import LedgerEntry
from app.domain.tenant import Tenant
from app.kit.clock import iso_seconds, system_clock
from app.kit.control_characters import has_control_characters
from app.settings import Settings
from app.store import claims as stored_claims
from app.store import matches, tenants
from app.store.claims import ClaimFilter
from app.store.connections import Store
from app.store.consent_requests import ConsentRequest

_RESULTS = click.Choice([each.value for each in Result])
_VOID_REASONS = click.Choice(["4", "14", "15"])


@click.group()
def claim() -> None:
    """Claims of tenants that the result of a market is wrong."""


@claim.command("list")
@click.option("--all", "every", is_flag=True, help="Decided ones, too.")
@click.option("--tenant", "slug", help="Only of this tenant.")
@click.option("--match", "ref", help="Only about this match: its UUID or od:match:<n>.")
@click.option("--limit", default=50, show_default=True)
@async_command
async def list_claims(every: bool, slug: str | None, ref: str | None, limit: int) -> None:
    """Claims, newest first: the id, the state, when it is due, whose it is, about what, who has it."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        wanted = ClaimFilter(
            tenant_id=(await tenants.by_slug(tx, slug)).id if slug else None,
            match_id=(await matches.by_ref(tx, ref)).id if ref else None,
            undecided=None if every else True,
        )
        found = await stored_claims.page(tx, wanted, limit=limit)
    print_list(list(map(_line, found)), "no claim" if every else "no undecided claim")


@claim.command("show")
@click.argument("claim_id", type=click.UUID)
@async_command
async def show_claim(claim_id: UUID) -> None:
    """What a tenant says in claim CLAIM_ID, and beside it what the ledger has of the market."""
    async with command_store(load_settings()) as store, store.snapshot() as tx:
        shown = await steps.show(tx, claim_id)
    print_line(_line(shown.claim))
    print_line(f"reason: {shown.claim.reason}")
    if shown.claim.evidence:
        print_line(f"evidence: {shown.claim.evidence}")
    if shown.claim.answer:
        print_line(f"answer: {shown.claim.answer}")
    for entry in shown.ledger:
        print_line(_entry_line(entry, contested=entry.id == shown.claim.entry_id))
    if shown.outdated and shown.claim.undecided:
        click.echo("the result was changed since the claim was made: it can only be answered")


@claim.command("make")
@click.argument("slug")
@click.argument("match")
@click.argument("market")
@click.argument("expected", type=_RESULTS)
@click.option("--reason", required=True)
@click.option("--evidence", default="")
@click.option("--request-id", help="Sent again with it, the claim is not made again.")
@async_command
async def make_claim(
    slug: str, match: str, market: str, expected: str, reason: str, evidence: str, request_id: str | None
) -> None:
    """Claim for tenant SLUG that the result of MARKET (13:map=1|round=3|team=home) of MATCH should be
    EXPECTED."""
    settings = load_settings()
    key = key_of_name(market)
    if key is None:
        raise click.UsageError("MARKET is the market_offer_id, as 13:map=1|round=3|team=home.")
    wanted = WantedClaim(
        key=key,
        expected=Result(expected),
        reason=_text("--reason", reason),
        evidence=_text("--evidence", evidence, least=0, most=MAX_EVIDENCE),
        request_id=request_id if request_id is None else _text("--request-id", request_id, most=64),
    )
    async with command_store(settings) as store:
        service, tenant = await _claims_of(store, settings, slug)
        made = await service.make(tenant, lambda tx: matches.by_ref(tx, match), wanted, by=actor())
    print_line(_line(made))


@claim.command("withdraw")
@click.argument("slug")
@click.argument("claim_id", type=click.UUID)
@async_command
async def withdraw_claim(slug: str, claim_id: UUID) -> None:
    """Withdraw claim CLAIM_ID for tenant SLUG, while it is open."""
    settings = load_settings()
    async with command_store(settings) as store:
        service, tenant = await _claims_of(store, settings, slug)
        print_line(_line(await service.withdraw(tenant, claim_id, by=actor())))


async def _claims_of(store: Store, settings: Settings, slug: str) -> tuple[ClaimService, Tenant]:
    async with store.autocommit() as tx:
        tenant = await tenants.by_slug(tx, slug)
    deadline, most = settings.claim_deadline_minutes, settings.claims_per_tenant
    return ClaimService(store, system_clock, deadline, most), tenant


@claim.command("take")
@click.argument("claim_id", type=click.UUID)
@click.option("--instead-of", default="", help="Who has it now, as `matchfeed claim list` names them.")
@async_command
async def take_claim(claim_id: UUID, instead_of: str) -> None:
    """Take claim CLAIM_ID: you work on it. Refused if somebody else has it."""
    async with command_store(load_settings()) as store:
        after = await answers.take(store, claim_id, by=actor(), now=system_clock(), instead_of=instead_of)
    print_line(_line(after))


@claim.command("answer")
@click.argument("claim_id", type=click.UUID)
@click.argument("text")
@async_command
async def answer_claim(claim_id: UUID, text: str) -> None:
    """Answer claim CLAIM_ID: the result stands, for the reason in TEXT, which the tenant reads."""
    text = _text("TEXT", text)
    async with command_store(load_settings()) as store:
        print_line(_line(await answers.answer(store, claim_id, text, by=actor(), now=system_clock())))


@claim.command("uphold")
@click.argument("claim_id", type=click.UUID)
@click.option("--reason", required=True, help="For the ledger, which every tenant sees.")
@click.option("--result", type=_RESULTS, help="Another one than the tenant expects.")
@click.option("--void-reason", type=_VOID_REASONS, default="4", show_default=True)
@click.option("--answer", default="", help="What this tenant is answered.")
@click.option("--request-id", help="Sent again with it, the command is not executed again.")
@async_command
async def uphold_claim(
    claim_id: UUID, reason: str, result: str | None, void_reason: str, answer: str, request_id: str | None
) -> None:
    """Correct the result that claim CLAIM_ID contests, as its tenant expects it. `matchfeed match preview`
    with the command uphold_claim shows what that would do. An old result waits for consent."""
    settings = load_settings()
    async with command_store(settings) as store:
        async with store.autocommit() as tx:
            found = await stored_claims.get(tx, claim_id)
        if found is None:
            raise steps.unknown(claim_id)
        command = UpholdClaim(
            claim=claim_id,
            market_id=found.type_id,
            specifiers=found.specifiers,
            result=result or found.expected.value,  # type: ignore[arg-type]
            void_reason_id=int(void_reason),  # type: ignore[arg-type]
            reason=_text("--reason", reason),
            answer=_text("--answer", answer, least=0),
            request_id=request_id if request_id is None else _text("--request-id", request_id, most=120),
        )
        service = command_service(store, settings)
        sent = await service.send(str(found.match_id), command, sender(), system_clock())
        async with store.autocommit() as tx:
            after = await stored_claims.get(tx, claim_id)
    print_line(_line(after or found))
    if isinstance(sent, ConsentRequest):
        click.echo(f"command {sent.id} waits for the consent of a second person")


def _text(name: str, text: str, *, least: int = 1, most: int = MAX_REASON) -> str:
    """The text, as the API would accept it: tenants read it."""
    if not least <= len(text) <= most or has_control_characters(text):
        raise click.UsageError(f"{name} has {least} to {most} characters, and no control character.")
    return text


def _line(found: Claim) -> str:
    due = iso_seconds(found.deadline_at)
    about = f"{match_urn(found.number)} {found.market}: {found.result.value} should be {found.expected.value}"
    holder = f" (taken by {found.taken_by})" if found.taken_by else ""
    state = f"{found.state.value}, due {due}" if found.undecided else f"{found.state.value}"
    by = f" as entry {found.correction_id}" if found.state is ClaimState.CORRECTED else ""
    return f"{found.id} {state}{by} {found.tenant} {about}{holder}"


def _entry_line(entry: LedgerEntry, *, contested: bool) -> str:
    facts = f", rests on {' '.join(map(str, entry.rests_on))}" if entry.rests_on else ""
    mark = " (contested)" if contested else ""
    result = entry.result.value if entry.result else "none"
    said = f"{entry.message} {result} by {entry.settled_by}: {entry.reason}"
    return f"entry {entry.id} {iso_seconds(entry.at)} {said}{facts}{mark}"
