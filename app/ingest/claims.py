"""Which sender of a match's log is followed, pure.

A match has one source. The same server's next run goes on where the last one ended; any other sender is
refused, and what it sends changes nothing, until an operator hands the match over to it or the one that is
followed has been silent for long.
"""

import re
from typing import Literal

import msgspec
from msgspec.structs import replace

from app.domain import facts as f
from app.ingest.batch import Batch
from app.store.match_sources import OTHERS, MatchSource

RESTART_MILLIS = 5_000  #: so long a server is silent at least that restarts
MOST = 20  #: senders on record for a match
UNNAMED = "unnamed"  #: the name of a sender that says nothing of itself
_NOWHERE = ("", "0.0.0.0", "[::]", "127.0.0.1", "localhost")  # noqa: S104
_LINE = 200  #: characters of a line that are kept
_PLAY = (f.PlayStarted, f.RoundStarted, f.RoundWon, f.MapEnded, f.Killed)
_PRIVATE = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<=password)\W.*|(?<=token)\W.*|(?<=rcon)\W.*", re.IGNORECASE
)
Verdict = Literal["followed", "next_run", "taken_over", "refused"]


class Judgement(msgspec.Struct, frozen=True):
    """What is done with a batch: whether its lines count, and why not; its sender as it is now; the sender
    whose place it takes, if it does."""

    verdict: Verdict
    sender: MatchSource
    former: MatchSource | None = None

    @property
    def changed(self) -> tuple[MatchSource, ...]:
        return (self.sender, self.former) if self.former else (self.sender,)


def judge(known: tuple[MatchSource, ...], batch: Batch, takeover_millis: int) -> Judgement:
    """What to do with a batch. A source that is followed gives way after `takeover_millis` of silence."""
    sender = _sender(known, batch)
    former = followed(known)
    if former is None or former.source == sender.source:
        return Judgement("followed", replace(sender, state="followed", why="", claims=False))
    silent = batch.arrived_at - former.last_seen
    if silent >= takeover_millis:
        why = f"silent for {silent // 1000} s when another source took over"
        return _instead(sender, former, "taken_over", why)
    if sender.server == former.server and sender.state != "ended":
        if silent >= RESTART_MILLIS or _is_certain(batch):
            return _instead(sender, former, "next_run", "the server's next run took its place")
        return Judgement("refused", _refused(sender, "another run of the server is still sending"))
    if sender.state == "ended" and sender.server == former.server:
        why = "an earlier run of the server that is followed"
        late = batch.arrived_at - former.first_seen < RESTART_MILLIS
        return Judgement("refused", replace(sender, why=why) if late else _refused(sender, why))
    return Judgement("refused", _refused(sender, f"{named(former)} is followed"))


def followed(known: tuple[MatchSource, ...]) -> MatchSource | None:
    return next((each for each in known if each.state == "followed"), None)


def named(sender: MatchSource) -> str:
    """A sender in words for operators."""
    return f"{sender.source} ({sender.server})" if sender.server not in ("", sender.source) else sender.source


def sends_play(facts: tuple[f.Fact, ...]) -> bool:
    """Whether there is play among what a sender tells, which claims the match."""
    return any(isinstance(fact, _PLAY) for fact in facts)


def server_of(batch: Batch) -> str:
    """What stays the same when the sender's server restarts, as far as it tells."""
    host = batch.address.rpartition(":")[0]
    if host not in _NOWHERE:
        return batch.address
    return batch.unique or (f"{batch.peer} {batch.address}" if batch.address else batch.peer)


def _is_certain(batch: Batch) -> bool:
    """Whether the server says itself who it is; a peer's address may stand for several servers. So may
    nothing at all, which is what old versions of the sink pass on."""
    return bool(batch.address or batch.unique or not batch.peer)


def _sender(known: tuple[MatchSource, ...], batch: Batch) -> MatchSource:
    """The batch's sender with what the batch shows of it; a new one is refused until it is judged."""
    server = server_of(batch)
    name = batch.instance or server or UNNAMED
    found = next((each for each in known if each.source == name), None)
    if found is None and len(known) >= MOST:
        name = OTHERS
        found = next((each for each in known if each.source == name), None)
    at = batch.arrived_at
    if found is None:
        found = MatchSource(source=name, state="refused", first_seen=at, last_seen=at)
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


def _instead(sender: MatchSource, former: MatchSource, verdict: Verdict, why: str) -> Judgement:
    sender = replace(sender, state="followed", why="", claims=False)
    return Judgement(verdict, sender, replace(former, state="ended", why=why))


def _refused(sender: MatchSource, why: str) -> MatchSource:
    """Whom an operator decided against stays dismissed."""
    return sender if sender.state == "dismissed" else replace(sender, state="refused", why=why)


def last_line(body: bytes) -> str:
    """The last line of a body in short, without addresses and secrets."""
    line = body.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")
    printable = "".join(each for each in line[: 2 * _LINE] if each.isprintable())
    return _PRIVATE.sub("…", printable)[:_LINE]
