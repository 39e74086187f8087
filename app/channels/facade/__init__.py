"""The compatibility facade: the paths under /v1/ of an established odds-feed layout, for clients that have
them built in. Documents are always XML, whatever `Accept` says; errors are JSON as everywhere, except for
404, which has the root of the missing resource.

`catalogue` holds what clients read once, `entrants` teams, players and tournaments, `matches` single matches
and their lists, `custom_bet` combinations of markets, `probabilities` what bets are worth, `recovery` the
recovery requests, `replay` replays of matches that are over; `dependencies` is what the handlers share: it
declares who may call them, and parses the paths. Some paths go beyond the specification, because existing
clients call them: `docs/compatibility.md` lists all.

Documents are rendered once and cached (`http.response`) until what they show changes; a schedule once for all
tenants that booked the same matches. The moment of rendering stands in the root of every document
(`generated_at`); it is not part of the ETag, so that a client need not load again what was only rendered
again.

The same handlers serve the SDK address, for unmodified SDKs of this layout: `wire.xml.dialect` is the table
of what is different there, and `FacadeDependencies.dialect` the address's column of it.
"""
