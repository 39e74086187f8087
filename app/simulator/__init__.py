"""Invented matches, played as a game server tells them.

`world` invents teams, players and maps; `plot` decides what happens in a round, `economy` what it is
played with; `stage` writes a map's lines, `series` a match's. Everything there is pure and seeded: the
same `Plan` gives the same lines, and a `truth` record beside them says what they mean, so that a
reader can be checked against it.
`oddities` say how often things go wrong; `incidents` are what goes wrong in a map (a restored round, a
restart, a crash, a pause), drawn from numbers of their own, with the record kept of what still counts.
`sender` posts lines to the log sink as a server does, `operator` calls the operator API, and `matchday`
keeps a day of matches going. They know the service from outside only, over HTTP: this package imports
nothing of ours, and only `cli` (and tests) import it.
"""
