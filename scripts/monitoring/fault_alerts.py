"""Which alerts each fault of the demo's menu raises, in Prometheus and for operators."""

import msgspec

#: How many times as short windows and `for` are while faults are injected.
FACTOR = 20.0


class Raised(msgspec.Struct, frozen=True):
    """What a fault raises: alerts of Prometheus that must fire, those that may besides, kinds of operators'
    alerts that must open, and why."""

    raises: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    may_operators: frozenset[str] = frozenset()
    why: str = ""


_LATE = "MatchfeedMessagesLateBurn"
_DOWN = "MatchfeedProcessDown"
FAULTS = {
    "feed": Raised(
        frozenset({_DOWN, "MatchfeedFeedDown", _LATE}),
        operators=frozenset({"dead_process"}),
        why="its heartbeat is missing after 15 s; what waited is published late",
    ),
    "ingest": Raised(
        frozenset({_DOWN, "MatchfeedIngestDown", _LATE}),
        operators=frozenset({"dead_process"}),
        why="its heartbeat is missing after 15 s; what waited is applied late",
    ),
    "source": Raised(
        frozenset({"MatchfeedSourcesSilent", "MatchfeedSourcesSilentBurn"}),
        operators=frozenset({"silent_source"}),
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
        why="odds that waited in durable queues are lost (open for five minutes); logs are refused",
    ),
    "downtime": Raised(
        frozenset({_DOWN, "MatchfeedWebDown"}),
        frozenset({_LATE}),
        may_operators=frozenset({"silent_source"}),
        why="nothing observes",
    ),
    "delay": Raised(frozenset({_DOWN, _LATE}), why="it does not answer, and its messages are late"),
    "drop": Raised(
        frozenset({_DOWN}),
        frozenset({_LATE}),
        why="the feed process is down for a while; what is withheld is never late, that of others may be",
    ),
    "duplicate": Raised(why="nothing is wrong with the service"),
    "reorder": Raised(frozenset({_DOWN, _LATE}), why="the feed process is down for a while"),
    "rollback": Raised(why="a command like any other"),
    "restore": Raised(why="play as any other"),
}
