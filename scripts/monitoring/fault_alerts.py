"""Which alerts each fault of the demo's menu raises, in Prometheus and for operators, and which incidents the
status of the service then has."""

import msgspec

from app.domain.service_status import IncidentKind

#: How many times as short windows and `for` are while faults are injected.
FACTOR = 20.0


class Raised(msgspec.Struct, frozen=True):
    """What a fault raises: alerts of Prometheus that must fire, those that may besides, kinds of operators'
    alerts that must open, kinds of incidents that must begin, and that may, and why."""

    raises: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    may_operators: frozenset[str] = frozenset()
    incidents: frozenset[IncidentKind] = frozenset()
    may_incidents: frozenset[IncidentKind] = frozenset()
    why: str = ""


_LATE = "MatchfeedMessagesLateBurn"
_DOWN = "MatchfeedProcessDown"
FAULTS = {
    "feed": Raised(
        frozenset({_DOWN, "MatchfeedFeedDown", _LATE}),
        operators=frozenset({"dead_process"}),
        incidents=frozenset({IncidentKind.FEED}),
        why="its heartbeat is missing after 15 s; what waited is published late",
    ),
    "ingest": Raised(
        frozenset({_DOWN, "MatchfeedIngestDown", _LATE}),
        operators=frozenset({"dead_process"}),
        incidents=frozenset({IncidentKind.INGEST}),
        why="its heartbeat is missing after 15 s; what waited is applied late",
    ),
    "source": Raised(
        frozenset({"MatchfeedSourcesSilent", "MatchfeedSourcesSilentBurn"}),
        operators=frozenset({"silent_source"}),
        incidents=frozenset({IncidentKind.SOURCES}),
        why="every match in play is suspended for the silence of its server",
    ),
    "consumer": Raised(
        may=frozenset({_LATE}), operators=frozenset({"tenant_losing_messages"}), why="its queue is gone"
    ),
    "broker": Raised(
        frozenset({"MatchfeedBrokerDown"}),
        frozenset({_LATE, "MatchfeedOperatorsAlert"}),
        operators=frozenset({"tenant_losing_messages"}),
        may_operators=frozenset({"silent_source"}),
        incidents=frozenset({IncidentKind.BROKER}),
        may_incidents=frozenset({IncidentKind.FEED, IncidentKind.SOURCES}),
        why="odds that waited in durable queues are lost (open for five minutes); logs are refused",
    ),
    "downtime": Raised(
        frozenset({_DOWN, "MatchfeedWebDown"}),
        frozenset({_LATE}),
        may_operators=frozenset({"silent_source"}),
        incidents=frozenset({IncidentKind.REST}),
        may_incidents=frozenset({IncidentKind.FEED, IncidentKind.INGEST, IncidentKind.SOURCES}),
        why="nothing observes; the incident is written when the service is back",
    ),
    "delay": Raised(
        frozenset({_DOWN, _LATE}),
        incidents=frozenset({IncidentKind.FEED}),
        why="it does not answer, and its messages are late",
    ),
    "drop": Raised(
        frozenset({_DOWN}),
        frozenset({_LATE}),
        incidents=frozenset({IncidentKind.FEED}),
        why="the feed process is down for a while; what is withheld is never late, that of others may be",
    ),
    "duplicate": Raised(why="nothing is wrong with the service"),
    "reorder": Raised(
        frozenset({_DOWN, _LATE}),
        incidents=frozenset({IncidentKind.FEED}),
        why="the feed process is down for a while",
    ),
    "rollback": Raised(why="a command like any other"),
    "restore": Raised(why="play as any other"),
}
