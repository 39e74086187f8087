"""RabbitMQ from the outside: addresses, the management API, and a tenant's vhost as we hand it out.

What a tenant gets is described in `provisioning` and nowhere else: vhost, user, rights, limits, policies,
exchange. Provisioning is idempotent; every run makes a new password, which is answered once and kept
nowhere. `rights` lists what a tenant may do, `authorisation` answers the broker's questions about that, and
`inspection` finds what no right bounds in a `survey` of the broker. `door` shuts a revoked tenant's vhost and
opens it again with the same password. `holders` are the feed processes' own users, by which one of them can
be shut out whatever it is doing. `connection` is one of the plain client that leaves nothing behind;
`integers` has headers written in types that every client reads.
Nothing here publishes an envelope: that is `amqp`.

Imported by `access`, `amqp`, `channels.feed`, `ingest`, `main`, `workers` and `cli`; imports `kit`.
"""
