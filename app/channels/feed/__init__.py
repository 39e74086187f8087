"""AMQP: the change log, told to every tenant's vhost as XML envelopes.

A `session` is one life of the process: a user of its own on the broker, a `lease`, and the tenants that it
takes, keeps and lets go of.

The flow, one way: `relay` reads each new change once → `outgoing` groups rows into envelopes, rendered and
marshalled once (`routing` has their keys, `frames` their AMQP) → `recent` keeps the newest of them → every
tenant's `delivery` writes the same bytes to its own `connection`, which `link` keeps up, within its window →
the broker's confirms move the tenant's cursor, which `relay` saves while `lease` says that the tenant is
ours. One that is slow or away lags alone and is read for by itself. `heartbeat` says `alive`, and what
`overflow` sees a tenant's queues lose; `bindings` follows what they are bound to, which is the `audience` of
what is published; `watch` suspends everything when ingest is dead; `retention` shortens
the log. `replayer` runs the recoveries of the same tenants, each through a `post` of its own. What is said
through FastStream is begun and ended by `speaking`.

Invariants:
- a cursor is only moved over envelopes that the broker has confirmed, or that the tenant does not take,
  or that none of its queues takes (then the tenant is notified, once there was a queue);
- at most `window` envelopes are published beyond the saved cursor, so a crash repeats at most that many,
  each with the same `message_id` and `x-seq`;
- nothing is published without a lease that is certainly still ours, and a new holder publishes only after
  the old holder's connections are gone from the broker;
- within a vhost, envelopes are published in the log's order.

`asyncapi` says what tenants receive, `tail` shows it at a terminal, `gauges` and `health` how it goes.
Imported by `main`, `workers` and `cli`; imports `access`, `broker`, `recovery`, `store`, `wire`, `domain` and
`kit`.
"""
