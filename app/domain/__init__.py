"""The values and rules of the game and the market, pure.

Frozen structs and functions over them; no clock, no I/O, no framework. Times are Unix milliseconds,
a match's teams are `home` and `away` (the interface's team_a and team_b), sides are `CT` and `T`.

`transitions.fold` applies the facts of a source to a match and never guesses. Operators change a match by the
functions of `lifecycle`, `fixture`, `strength`, `restarts` and `round_totals` that return `MatchAndChanges`;
they raise `Conflict` where the match's state forbids the change. `round_knowledge` holds what only clients
and prices see; `analytics` computes the statistics of finished matches.

Everything above may import this package; it imports `kit`.
"""
