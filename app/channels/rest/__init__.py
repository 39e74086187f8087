"""The REST API under its canonical paths. A handler reads the store and hands the result to `wire`.

`meta` holds what concerns no sport, `matches` the matches and what hangs on them; `routes` lists both.
What a key may ask for stands in each route's `opt` (see `http.auth`), what it sees in `wire.fields`.
Keys limited to finished matches get 404 for all others, as if they were not there; whom only such a match
has made known is not there for them either, and statistics count finished matches only, for everybody.
`tournaments`, `teams`, `players`, `maps`, `search`, `soccer`, `settlements`, `prematch`, `descriptions`: one
noun a file; `recovery` and `selfcheck` are for clients that keep a book; `schemas`, `documents` and `pushed`
say what all of it looks like; `entrants` finds whom an address names, `parameters` holds what several of them
take. `operator_tenants` is for operator keys: tenants, their keys and their AMQP access; `office` its shapes.
"""
