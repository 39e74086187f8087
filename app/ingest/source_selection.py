"""Which sender of a match's log is followed, pure.

A match has one source. The same server's next run continues where the last one ended; any other sender is
refused, and its lines change nothing, until an operator chooses it or the followed one has been silent for
long. Neither a sender that an operator dismissed nor an earlier run of a server takes over by itself.
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from app.domain import facts as f
from app.ingest.batches import Batch
from app.store.log_state import OTHERS, LogSender

RESTART_MILLIS = 5_000  #: the least silence of a server that restarts
MAX_SENDERS = 20  #: senders recorded for a match
UNNAMED = "unnamed"  #: the name of a sender that does not identify itself
_LOCAL_ADDRESSES = ("", "0.0.0.0", "[::]", "127.0.0.1", "localhost")  # noqa: S104
_MAX_LINE = 200  #: characters of a line that are stored
_PLAY = (f.PlayStarted, f.RoundStarted, f.RoundWon, f.MapEnded, f.Killed)
_PRIVATE = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<=password)\W.*|(?<=token)\W.*|(?<=rcon)\W.*", re.IGNORECASE
)
Verdict = Literal["followed", "next_run", "taken_over", "refused"]


class SourceDecision(msgspec.Struct, frozen=True):
    """Whether a batch's lines count; its sender after the batch, with the reason if they do not; the sender
    that it replaces, if any; and the one whose record makes room for its own, if any."""

    verdict: Verdict
    sender: LogSender
    replaced: LogSender | None = None
    forgotten: LogSender | None = None

    @property
    def changed(self) -> tuple[LogSender, ...]:
        return (self.sender, self.replaced) if self.replaced else (self.sender,)


def decide(known: tuple[LogSender, ...], batch: Batch, takeover_millis: int) -> SourceDecision:
    """Decide on a batch. The followed source can be replaced after `takeover_millis` of silence."""
    sender = _sender(known, batch)
    decision = _decide(known, sender, batch, takeover_millis)
    listed = [each for each in known if each.source != OTHERS]
    if len(listed) < MAX_SENDERS or any(each.source == sender.source for each in listed):
        return decision
    if decision.verdict == "refused":
        return replace(decision, sender=_shared(known, decision.sender))
    return replace(decision, forgotten=_dispensable(listed, decision.replaced))


def _decide(
    known: tuple[LogSender, ...], sender: LogSender, batch: Batch, takeover_millis: int
) -> SourceDecision:
    current = followed(known)
    if current is None or current.source == sender.source:
        return SourceDecision("followed", replace(sender, state="followed", why="", claims=False))
    silent = batch.arrived_at - current.last_seen
    if _has_later_run(known, sender):
        same = sender.server == current.server
        why = "an earlier run of the server that is followed" if same else "an earlier run of its server"
        late = same and batch.arrived_at - current.first_seen < RESTART_MILLIS
        return SourceDecision("refused", replace(sender, why=why) if late else _refused(sender, why))
    if silent >= takeover_millis and not _is_dismissed(known, sender):
        why = f"silent for {silent // 1000} s when another source took over"
        return _replacing(sender, current, "taken_over", why)
    if sender.server == current.server and sender.state != "dismissed":
        if silent >= RESTART_MILLIS or _names_its_server(batch):
            return _replacing(sender, current, "next_run", "the server's next run took its place")
        return SourceDecision("refused", _refused(sender, "another run of the server is still sending"))
    return SourceDecision("refused", _refused(sender, f"{display_name(current)} is followed"))


def followed(known: tuple[LogSender, ...]) -> LogSender | None:
    """The sender that is followed; never the record that several senders share."""
    return next((each for each in known if each.state == "followed" and each.source != OTHERS), None)


def display_name(sender: LogSender) -> str:
    """A sender's name for operators."""
    return f"{sender.source} ({sender.server})" if sender.server not in ("", sender.source) else sender.source


def sends_play(facts: tuple[f.Fact, ...]) -> bool:
    """Whether there is play among a sender's facts, which claims the match."""
    return any(isinstance(fact, _PLAY) for fact in facts)


def server_of(batch: Batch) -> str:
    """The sender's identity across restarts of its server, as far as the headers show it."""
    host = batch.address.rpartition(":")[0]
    if host not in _LOCAL_ADDRESSES:
        return batch.address
    return batch.unique or (f"{batch.peer} {batch.address}" if batch.address else batch.peer)


def _names_its_server(batch: Batch) -> bool:
    """Whether the headers name the server; several servers may share a peer's address. Batches of old
    versions of the sink have no peer either."""
    return bool(batch.address or batch.unique or not batch.peer)


def _has_later_run(known: tuple[LogSender, ...], sender: LogSender) -> bool:
    """Whether another run of the sender's server has been followed that began after it."""
    return any(
        each.server == sender.server
        and each.state in ("followed", "ended")
        and each.first_seen > sender.first_seen
        for each in known
        if each.source != OTHERS
    )


def _is_dismissed(known: tuple[LogSender, ...], sender: LogSender) -> bool:
    """Whether an operator decided against the sender or another run of its server. A sender without a record
    of its own shares the decision against those."""
    listed = any(each.source == sender.source for each in known)
    return any(
        each.state == "dismissed" and (each.server == sender.server if each.source != OTHERS else not listed)
        for each in known
    )


def _shared(known: tuple[LogSender, ...], refused: LogSender) -> LogSender:
    """The record that all senders above `MAX_SENDERS` share, after a batch of one of them."""
    found = next((each for each in known if each.source == OTHERS), None)
    if found is None:
        return replace(refused, source=OTHERS)
    shown = replace(
        found,
        server=refused.server,
        instance=refused.instance,
        peer=refused.peer,
        map=refused.map or found.map,
        last_seen=max(refused.last_seen, found.last_seen),
        end_offset=refused.end_offset,
        last_line=refused.last_line or found.last_line,
    )
    return _refused(shown, refused.why)


def _dispensable(listed: Sequence[LogSender], replaced: LogSender | None) -> LogSender | None:
    """The record that makes room for that of a sender to follow: the oldest of a refused sender, else of an
    earlier run; none that an operator decided about or has an alert about."""
    candidates = [
        each
        for each in listed
        if each.state in ("refused", "ended")
        and not each.claims
        and (replaced is None or each.source != replaced.source)
    ]
    return min(candidates, key=lambda each: (each.state == "ended", each.last_seen), default=None)


def _sender(known: tuple[LogSender, ...], batch: Batch) -> LogSender:
    """The batch's sender with what the batch shows of it; a new one is refused until it is decided."""
    server = server_of(batch)
    name = batch.instance or server or UNNAMED
    if name == OTHERS:
        name = f"{OTHERS} (its name)"  # no sender may pass for the record that several share
    found = next((each for each in known if each.source == name), None)
    at = batch.arrived_at
    if found is None:
        found = LogSender(source=name, state="refused", first_seen=at, last_seen=at)
    return replace(
        found,
        server=server,
        instance=batch.instance,
        peer=batch.peer,
        map=batch.map or found.map,
        last_seen=max(at, found.last_seen),
        end_offset=batch.end,
        last_line=last_line(batch.body) or found.last_line,
    )


def _replacing(sender: LogSender, current: LogSender, verdict: Verdict, why: str) -> SourceDecision:
    sender = replace(sender, state="followed", why="", claims=False)
    return SourceDecision(verdict, sender, replace(current, state="ended", why=why))


def _refused(sender: LogSender, why: str) -> LogSender:
    """A sender that an operator dismissed stays dismissed."""
    return sender if sender.state == "dismissed" else replace(sender, state="refused", why=why)


def last_line(body: bytes) -> str:
    """The last line of a body, as `stored_line` stores it."""
    return stored_line(body.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace"))


def stored_line(line: str) -> str:
    """A line in short, without addresses and secrets."""
    printable = "".join(each for each in line[: 2 * _MAX_LINE] if each.isprintable())
    return _PRIVATE.sub("…", printable)[:_MAX_LINE]
