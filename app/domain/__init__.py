"""The values and rules of the game and the market, pure.

Frozen structs and functions over them; no clock, no I/O, no framework. Times are Unix milliseconds,
team slots are `home` and `away` (the interface's team_a and team_b), sides are `CT` and `T`.
A match is moved in four places: `transitions.fold` takes in what a source says and guesses nothing; the
moves of `lifecycle`, `fixture` and `awards` are an operator's and raise `Conflict` where they are impossible.
`scoreboard` shows and decides nothing; `analytics` counts what finished matches leave behind.
Everything above may import this package; it imports `kit`.
"""
