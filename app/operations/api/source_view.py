"""The view of a sender of a match's log."""

import msgspec

from app.domain.match import Match
from app.kit.clock import iso_millis
from app.store.log_state import LogSender


class SourceView(msgspec.Struct, frozen=True):
    """A sender of a match's log. `source` is its name in commands; `server` stays the same when the server
    restarts, `instance` is its run; `peer` is the address of its requests. `state` is followed, refused
    (another is followed), dismissed (by an operator) or ended (another run or server replaced it); `why` is
    the reason why it is not followed, or why its rounds cannot be counted. `claims`: it sends play and
    suspends the match. `offset` is the end of its last bytes in its run, null where it sends none.
    `unread_lines` counts its lines about play that could not be parsed, `unread_line` is the newest of them.
    Neither that nor `last_line` has addresses and secrets."""

    source: str
    server: str
    instance: str
    peer: str
    map: str
    state: str
    why: str
    claims: bool
    first_seen: str
    last_seen: str
    offset: int | None
    last_line: str
    unread_lines: int
    unread_line: str


def source_view(match: Match, source: LogSender) -> SourceView:
    followed = source.state == "followed"
    return SourceView(
        source=source.source,
        server=source.server,
        instance=source.instance,
        peer=source.peer,
        map=source.map or (match.loaded if followed else ""),
        state=source.state,
        why=_uncounted(match) if followed else source.why,
        claims=source.claims,
        first_seen=iso_millis(source.first_seen),
        last_seen=iso_millis(source.last_seen),
        offset=source.end_offset,
        last_line=source.last_line,
        unread_lines=source.unread_lines,
        unread_line=source.unread_line,
    )


def _uncounted(match: Match) -> str:
    if not match.uncounted_rounds:
        return ""
    return f"{match.uncounted_rounds} rounds in a row could not be counted: {match.suspended}"
