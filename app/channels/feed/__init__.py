"""The feed process: publishes the change log to every tenant's vhost, with `app.amqp`.

A `session` is one lifetime of the process: a broker user of its own, a lease, and the tenants that it
acquires, serves and releases. Beside the relay it runs the recoveries of its tenants, `enforcement` of what
tenants may have at the broker, and `gauges`. `process_watch` suspends every market when no ingest worker is
alive, and knows whether REST answers; `retention` prunes the change log.

`process_watch` also reports the state of the feed to any process; `asyncapi` documents what tenants receive,
`tail` prints it on a terminal.
"""
