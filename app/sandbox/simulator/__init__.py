"""Invented matches, played as a game server tells them.

`world` invents teams, players and maps; `plot` decides what happens in a round, `economy` what it is played
with, out of the weapons of `arms`. `stage` holds a map's state (sides, score, money); `opening` is what comes
before its first round that counts, `scene` a round's plot written out, `contest` the whole of it; `series`
plays a match. `lines` spells each line, `log` gives it its moment, which `series` stamps on it. All of that
is pure and seeded: the same `Plan` gives the same lines, and a `truth` record beside them says what they
mean, so that a reader can be checked against it. `oddities` say how often things go wrong; `incidents` are
what goes wrong in a map (a restored round, a restart, a crash, a pause), drawn from numbers of their own,
with the record kept of what still counts. `sender` posts lines to the log sink as a server does, as fast as
`pace` says, `operator` calls the operator API, and `matchday` keeps a day of matches going. They know the
service from outside only, over HTTP: this package imports nothing else of ours.
"""
