"""RabbitMQ from the outside: addresses, the management API, and what each tenant gets there.

`provisioning` alone describes a tenant's vhost: user, permissions, limits, policies, exchange. It is
idempotent; every run sets a new password, which is returned once and stored nowhere. `permissions` lists
what a tenant may do, `authorisation` answers the broker's HTTP authorisation requests from that list, and
`violations` finds what permissions do not limit in an inventory of the broker. `broker_users` revokes a
tenant's login without changing its password, and has the feed processes' own users, one a process, so that
one process can be cut off whatever it is doing. `connection` opens a plain AMQP connection that is always
closed, and makes headers use integer types that every client reads. Nothing here publishes an envelope:
that is `amqp`.
"""
