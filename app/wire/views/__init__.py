"""JSON views: structs with the interface's field names, and the functions that make them from domain values.

Teams are `team_a` and `team_b`, times ISO 8601 in UTC. A field that a key may not see is UNSET and so
absent. `match` for matches and their maps, `history` for rounds and events, `offers` for markets and
settlements, `frames` for what only the stream sends, `meta` for what concerns no sport; the other files have
the noun of the resource that they show.
"""
