"""The statements that Piccolo does not build, each with the reason beside it; everything else goes through
its builder (`prepared`).

`writes` writes many rows at once, or several things, `change_log` numbers under a lock, `claims` takes what
several processes want, `reads` joins what the builder cannot, `envelopes` reads the change log backwards,
`restoration` concerns a database that was restored, `server` PostgreSQL itself. A reason is a feature of SQL
or a measurement (`scripts.bench.store`). A test knows this package as the only place of SQL.
"""
