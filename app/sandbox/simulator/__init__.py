"""Matches between fictional teams, as the log lines that a CS2 server writes of them.

`fictional_world` has teams, players and maps; `round_plan` decides what happens in a round, `economy` with
which money and weapons. `map_state` is a map being played (sides, score, money); `round_writer` writes a
planned round, and what comes before the first one that counts, `map_play` the whole map, `match_simulation`
the match. `log_lines` formats each line and gives it its moment, `match_simulation` its timestamp. All of
that is pure and seeded: the same `MatchPlan` gives the same lines. A `truth` record beside them says what
they mean, so that a reader can be checked against it.

`anomalies` are how often things go wrong. `incidents` are what goes wrong in a map (a restored round, a
restart, a crash, a pause); they have random numbers of their own, and the record shows only what still
counts.

`service_client` sends lines to the log sink as a server does, as fast as the match's pace says, and calls the
operator API; `matchday` runs matches without end. They know the service over HTTP only: this package imports
nothing else of ours.
"""
