"""How facts arrive: server logs over HTTP, and operators' commands.

    routes → queues → consumer → apply → domain, trading → record → store
             (durable)            operator ────────────────┘

The sink only makes a batch safe and answers; a `worker` applies it later, from its `share` of the queues. One
batch is one transaction: the match row is locked, the batch is put in its place among the sender's bytes
(`offsets`), its facts are put in their place in time (`pace`) and folded through the pure centre (`run`), and
state, ledger and change log (`drafts`) are written together or not at all; `linking` gives names their
numbers. A batch is acknowledged after the commit, so every batch is applied at least once, and its offsets or
its message id make that exactly once. What is missing is never guessed: the match is suspended until a round
begins whole. Facts applied long after they arrived score, suspend and settle, but open and reprice nothing.
`watch` suspends what no line speaks of: a silent source, missing bytes, a batch laid aside.

An operator's command is one struct of `commands`. `orders` says which move of the domain it is and what
is done to markets by hand (`hands`); `operator` does it in one transaction, once for each of the operator's
own ids, and puts it on record. `reference` takes reference data from files.

Ingest never knows a channel. Litestar is spoken in `routes` and `operator_routes` only. Imported by `main`,
`workers` and `cli`; imports `trading`, `store`, `broker`, `access`, `http`, `wire`, `domain` and `kit`.
"""
