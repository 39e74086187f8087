"""The statements that Piccolo does not build, each with the reason beside it; everything else goes through
its builder (`prepared`).

`writes` writes many rows at once, or a row and more with it, `change_log` assigns numbers under a lock,
`claims` acquires what several processes compete for, `reads` joins what the builder cannot, `envelopes` reads
the change log backwards, `market_history` what it has of markets, `restoration` concerns a database that was
restored, `server` PostgreSQL itself. A reason is a feature of SQL or a measurement (`scripts.bench.store`). A
test rejects SQL outside this package.
"""
