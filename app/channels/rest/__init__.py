"""The REST API under its canonical paths. A handler reads the store and hands the result to `wire`.

`meta` holds what concerns no sport, `matches` the matches and what hangs on them; `routes` lists both.
What a key may ask for stands in each route's `opt` (see `http.auth`), what it sees in `wire.fields`.
Keys limited to finished matches get 404 for all others, as if they were not there.
`operator_tenants` is for operator keys: tenants, their keys and their AMQP access; `office` its shapes.
"""
