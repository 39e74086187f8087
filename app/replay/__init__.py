"""Replays: a match that is over is published once more to a tenant, as it was published then.

`request` keeps the list of each node and starts and stops replays; `timeline` reads what was published, with
the pauses between; `accidents` is what goes wrong on the way, where that is wanted; `runner` runs the replays
of the tenants whose lease this process holds, and publishes to the tenant's vhost.

Invariants:
- what is replayed is the change log (`store.kept_changes`), through the functions that render live messages:
  nothing is computed again;
- the tenant receives what it received then: matches that it had booked, its own odds, no market of a type
  that was off;
- replays are published to an exchange of their own, so that no client of the feed receives them, and yield
  to live messages like recoveries;
- a run that breaks off is continued from what was last recorded; messages that come twice by that have the
  same `message_id`.
"""
