"""The REST API under its canonical paths. A handler reads the store and passes the result to `wire`.

`meta` holds what concerns no sport, `matches` the matches and their parts, their lists in `listing`; the
others have the noun of their resource. `recovery` is for clients that keep a book; `documents` and `asyncapi`
serve the descriptions of all interfaces, `console` a page that sends requests. `dependencies` has what
handlers share: what they work with, the options of routes about matches, the query parameters of several
routes, and how path parameters name matches, teams, players and tournaments. The operators' API is in
`app.operations.api`.

The rights that a route requires stand in its `opt` (see `http.auth`), the fields that a key sees in
`wire.fields`. Keys limited to finished matches get 404 for all others; entrants known only from such a match
are 404 for them too, and statistics count finished matches only, for every key.
"""
