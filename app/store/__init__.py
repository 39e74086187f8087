"""The only package that uses PostgreSQL and Redis. PostgreSQL is the truth: a crash loses nothing of it.

A function takes a `Tx` (see `transaction`) and does one thing in it; its caller opens the transaction, from
the pool in `connections`, and decides what belongs together. Three modules work otherwise: `notifications`
receives NOTIFY on a connection of its own, `counters` counts in Redis what may be lost, and `migrations`
brings a database to the present schema. JSON values are bytes.

Piccolo describes the tables (`tables`), runs the migrations and builds the queries: each is a function that
`prepared` calls once in the life of a process. What Piccolo cannot build, or builds at too high a cost, is
SQL in `statements`, each statement with its reason; a test rejects SQL anywhere else.

Invariants: a transaction locks a match's row before it writes anything of the match, and writes that row if
it changes the match or its markets (`match_cache` relies on it); `changes.append` is a transaction's last
statement; a change-log number is visible only when every lower one is; the ledger is only appended to; no
process uses a promoted server before its sequences are beyond what was published (`timeline`).
"""
