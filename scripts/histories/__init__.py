"""Random histories of matches, operators, tenants and faults on a cluster, and an auditor of each.

`history` has the steps, `generation` makes a history from a seed, `fault_table` breaks and mends. `run` plays
one: `matches` are the game servers, `operators` give commands, a `tenant` has a `feed_client` and a
`stream_client`, which record everything that they receive. `collection` reads the database and REST into
`evidence`; `auditor` compares it, purely (`log_audit`, `feed_audit`, `book_audit`, `stream_audit`).
`shortening` finds the steps without which nothing breaks, `report` writes the table.
"""
