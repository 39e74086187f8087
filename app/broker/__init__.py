"""RabbitMQ from the outside: addresses, the management API, and a tenant's vhost as we hand it out.

What a tenant gets is described in `provisioning` and nowhere else: vhost, user, rights, limits, policies,
exchange. Provisioning is idempotent; every run makes a new password, which is answered once and kept
nowhere. Nothing here publishes an envelope: that is `channels.feed`.

Imported by `access`, `channels.feed`, `ingest`, `main`, `workers` and `cli`; imports `kit`.
"""
