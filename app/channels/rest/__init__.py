"""The REST API under its canonical paths. A handler reads the store and hands the result to `wire`.

`meta` holds what concerns no sport, `matches` the matches and what hangs on them, their lists in `listing`;
the others have the noun of their resource. `recovery` and `selfcheck` are for clients that keep a book;
`schemas`, `documents` and `pushed` say what all of it looks like. `routes` is the list of all. Handlers read
with a `reader`; `telling` holds what those about matches share, `parameters` what several of them take,
`entrants` whom an address names. What operators request is served by `app.operators`.

What a key may ask for stands in each route's `opt` (see `http.auth`), what it sees in `wire.fields`.
Keys limited to finished matches get 404 for all others, as if they were not there; whom only such a match
has made known is not there for them either, and statistics count finished matches only, for everybody.

Imported by `main`; imports `recovery`, `http`, `store`, `wire`, `domain` and `kit`.
"""
