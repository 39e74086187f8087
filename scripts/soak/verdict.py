"""What must be true at the end of the day."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from app.commands.settlement_audit import audit_settlements
from app.domain.ids import match_urn
from app.domain.match import Status
from app.store import matches
from app.store.connections import Store
from scripts.soak.bookmakers import Bookmaker

_PATIENCE_SECONDS = 180.0
_SHOWN = 5  #: differences of a book


class Verdict(msgspec.Struct, frozen=True):
    """`wrong` names each thing that is not as it must be."""

    matches: int
    finished: int
    entries: int
    wrong: tuple[str, ...]


async def books(everyone: Sequence[Bookmaker]) -> list[str]:
    """Each book that does not come to equal REST's, with how it differs, once nothing happens any more."""
    wrong = []
    for each in everyone:
        found: dict[str, Any] | None = None
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while (found := await each.comparison()) is None or found["count"]:
                    await asyncio.sleep(0.5)
        except TimeoutError:
            wrong.append(f"{each.slug}: {_shown(each, found)}")
    return wrong


def _shown(bookmaker: Bookmaker, found: dict[str, Any] | None) -> str:
    if found is None:
        return f"still recovering, by request {bookmaker.book.request or '(not sent)'}"
    return f"{found['count']} differences, at first {found['differences'][:_SHOWN]}"


async def ledger(store: Store) -> Verdict:
    """Audit every match, as `matchfeed audit` does one."""
    wrong: list[str] = []
    finished = entries = 0
    async with store.autocommit() as tx:
        ids = [row["id"] for row in await tx.fetch("SELECT id FROM match ORDER BY number")]
    for match_id in ids:
        async with store.autocommit() as tx:
            match = await matches.get(tx, match_id)
            assert match, "matches stay"
            found = await audit_settlements(tx, match)
        finished += match.status is Status.FINISHED
        entries += found.entries
        name = match_urn(match.number)
        wrong += [f"{name}: {each.type_id} {each.specifiers}: {each.problem}" for each in found.differences]
    return Verdict(len(ids), finished, entries, tuple(wrong))
