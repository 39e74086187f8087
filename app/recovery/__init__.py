"""How it is told again: a tenant that lost messages asks, and hears the present and what it missed.

`request` accepts or refuses; an accepted one is a durable job before it is answered. `replay` turns a job
into steps and each step into letters, read from state and history, never from what was once published.
`letter` renders one; the feed's replayer publishes it.

Invariants:
- a slot, (tenant, node), has one request in flight, for ten minutes at most;
- a replayed `odds_change` carries a fresh stamp and all that is open; settlements, voids, rollbacks and
  fixture changes carry the stamp that they had, so telling a window twice changes nothing;
- folding what is replayed, in its order, ends in the state at the stamps; what happens meanwhile is told
  live, with a higher `x-seq`;
- no lock is held while something is published.

Imported by `channels.rest`, `channels.facade`, `channels.feed` and `main`; imports `wire`, `store`, `domain`
and `kit`.
"""
