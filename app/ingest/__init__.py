"""How facts arrive: server logs over HTTP, and reference data from files.

    routes → queues → consumer → apply → domain → commands.match_update → store
             (durable)

The log sink publishes a batch to a durable queue and responds; a `worker` applies it later, from its `share`
of the queues. One batch is one transaction: the match row is locked, the batch is put in its place among the
sender's bytes (`offsets`), its facts are put in their place in time (`pace`) and folded through the pure
centre (`run`), and trading reacts and everything is written together or not at all
(`app.commands.match_update`). A batch is acknowledged after the commit, so every batch is applied at least
once, and its offsets or its message id make that exactly once. What is missing is never guessed: the match is
suspended until a round begins whole. Facts applied long after they arrived score, suspend and settle, but
open and reprice nothing. `watch` suspends what no line speaks of: a silent source, missing bytes, a batch
laid aside. `claims` chooses which of several senders is followed, `rival_sources` records the others.
`reference` imports reference data from files.

Ingest imports no channel. Only `routes` imports Litestar. Imported by `main`, `workers` and `cli`; imports
`commands`, `store`, `broker`, `access`, `http`, `domain` and `kit`.
"""
