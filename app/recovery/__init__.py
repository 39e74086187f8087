"""Recoveries: a tenant that lost messages requests them, and receives the present state and what it missed.

`request` accepts or rejects; an accepted request is a durable job before it is answered. `plan` divides a job
into steps and reads each step's messages from state and history, never from what was once published.
`runner` runs the jobs of the tenants whose lease this process holds, and publishes to the tenant's vhost.

Invariants:
- a slot, (tenant, node), has one request in flight, for ten minutes at most; where the dialect says so,
  others wait for it and run one after the other;
- a replayed `odds_change` has a fresh timestamp and every open market; settlements, voids, rollbacks and
  fixture changes have their original timestamp, so replaying a window twice changes nothing;
- applying what is replayed, in its order, ends in the state at those timestamps; what happens meanwhile is
  published live, with a higher `x-seq`;
- no lock is held during publishing.
"""
