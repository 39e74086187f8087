"""Where a person's e-mail address stands outside their own row: in the name of an actor, or in what somebody
wrote. It is replaced by a pseudonym.

Not in the ledger, in what a match was given and in the change log: what is settled rests on these, and no
actor is named there.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

from piccolo.columns import Column
from piccolo.columns.combination import WhereRaw
from piccolo.query import Update
from piccolo.querystring import QueryString
from piccolo.table import Table

from app.store.prepared import prepared, writing
from app.store.sql import any_of, literals
from app.store.tables.claim import Claim
from app.store.tables.operations import Alert, ConsentRequest, MatchCommand, OperatorCommand
from app.store.tables.reference import ReferenceReport
from app.store.tables.status import Incident
from app.store.tables.tenant import ApiKey, Audit, Profile
from app.store.transaction import Tx

#: The columns of each table; the audit last, because every action writes it.
PLACES: dict[type[Table], tuple[Column, ...]] = {
    OperatorCommand: (OperatorCommand.actor, OperatorCommand.request),
    MatchCommand: (
        *(MatchCommand.actor, MatchCommand.person, MatchCommand.consent_by),
        MatchCommand.command,
    ),
    ConsentRequest: (
        *(ConsentRequest.actor, ConsentRequest.person, ConsentRequest.decided_by),
        *(ConsentRequest.command, ConsentRequest.reason),
    ),
    Alert: (Alert.seen_by, Alert.taken_by, Alert.ended_by),
    Claim: (
        *(Claim.opened_by, Claim.taken_by, Claim.answered_by),
        *(Claim.reason, Claim.evidence, Claim.answer),
    ),
    Incident: (Incident.updates,),
    Profile: (Profile.created_by,),
    ReferenceReport: (ReferenceReport.by, ReferenceReport.body),
    ApiKey: (ApiKey.label,),
    Audit: (Audit.actor, Audit.details),
}
#: Characters before and after an address with which it is another one. A line break in JSON ends in a letter.
_OTHER = r"(?:(?<![a-z0-9._%+-])|(?<=\\[bfnrt])){}(?![a-z0-9-]|\.[a-z0-9])"


async def replace_address(tx: Tx, table: type[Table], address: str, pseudonym: str) -> int:
    """Replace the e-mail address in the table's `PLACES`; how many rows had it."""
    pattern = _OTHER.format(re.escape(address))
    return await tx.change(_replace(pattern, pseudonym, table=table))


#: The one action whose record has a network address.
_SIGN_INS = Audit.action.is_in(literals(["user.sign_in"]))


@writing
def replace_subjects(subjects: Collection[str], pseudonym: str, /) -> Update[Any]:
    """Replace the subject of the audit's records about them."""
    return Audit.update({Audit.subject: pseudonym}).where(any_of(Audit.subject, subjects))


@writing
def forget_networks(actors: Collection[str], /) -> Update[Any]:
    """Delete the network addresses that these actors of the audit signed in from."""
    without = QueryString("({}::jsonb - 'address')::json", Audit.details)
    return Audit.update({Audit.details: without}).where(any_of(Audit.actor, actors), _SIGN_INS)


@prepared
def _replace(pattern: str, pseudonym: str, *, table: type[Table]) -> Update[Any]:
    return table.update(dict(_replaced(table, pattern, pseudonym))).where(_named(table, pattern))


def _replaced(table: type[Table], pattern: str, pseudonym: str) -> Iterator[tuple[Column | str, Any]]:
    for column in PLACES[table]:
        sql = f"regexp_replace({{}}::text, {{}}, {{}}, 'gi')::{column.column_type}"
        yield column, QueryString(sql, column, pattern, pseudonym)


def _named(table: type[Table], pattern: str) -> WhereRaw:
    columns = PLACES[table]
    texts = ", ".join("{}::text" for _ in columns)
    return WhereRaw(f"concat_ws(' ', {texts}) ~* {{}}", *columns, pattern)
