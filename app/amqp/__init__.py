"""How anything is published to tenants: every envelope, over AMQP, into the tenant's own vhost.

The flow, one way: `relay` reads each new change of the change log once → `envelope` groups rows into
envelopes, rendered and marshalled once (`frames` has their AMQP frames) → `publishers`, which declares
everything that is published, for FastStream, publishes each → its transport puts them among the recent
envelopes → each tenant's `tenant_publisher` writes the same bytes to its own `connection`, which `reconnect`
restores, within its window → the broker's confirms move the tenant's cursor, which `relay` saves while the
`lease` is held. A tenant that is slow or unreachable lags alone and is read for separately.

What a single tenant gets goes over the same connection, by the `tenant_channels`: `alive` and what is
replayed have a channel each, and a replay yields to what is live.

`alive` publishes `alive`, and the `loss_notice` of a tenant: losses come from its publisher, from its queues
and from the times when none of its queues was bound (`binding_tracker` tracks the bindings). Every connection
logs in as the user that `lease` names. `delivery_status` reports the delivery to each tenant.

Invariants:
- a cursor moves only past envelopes that the broker has confirmed, or that the tenant does not subscribe to,
  or that no queue of it receives (the tenant is then notified, if it ever had a queue);
- at most `window` envelopes are published beyond the saved cursor, so a crash repeats at most that many,
  each with the same `message_id` and `x-seq`;
- nothing is published without a lease that is certainly still held, and a new holder publishes only after
  the former holder's connections are gone from the broker;
- within a vhost, envelopes are published in the order of the change log.
"""
