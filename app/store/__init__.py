"""The only place that knows PostgreSQL and Redis: what is true, kept so that a crash loses nothing.

A function takes a `Tx` (see `transaction`) and does one thing in it; whoever opens the transaction, from the
pool in `connections`, decides what belongs together. Three files work otherwise: `signals` hears NOTIFY on a
connection of its own, `counters` counts in Redis, over its `redis_link`, what may be lost, and `migrations`
brings a database to the present schema. Piccolo describes the tables, runs the migrations and builds ordinary
queries; the paths that run for every log batch are plain SQL over arrays. JSON travels as bytes.

Invariants: a match's row is locked before anything of it is written; `changes.append` is a
transaction's last act; a change-log number is visible only when every lower one is; the ledger is only
appended to.

Imported by `access`, `amqp`, `recovery`, `http`, `channels.rest`, `channels.facade`, `channels.stream`,
`channels.feed`, `operators`, `commands`, `ingest`, `main`, `workers`, `sandbox` and `cli`; imports `domain`,
`kit` and, for Piccolo's own commands, `settings`.
"""
