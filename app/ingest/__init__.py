"""How facts arrive: server logs over HTTP, and reference data from files.

    routes → queues → consumer → log_update → domain → commands.match_update → store
             (durable)

The log sink publishes a batch to a durable queue and responds; the `consumer` of a `worker` applies it later,
from the queues that its assignment leaves to it. One batch is one transaction (`log_update`): the match row
is locked, the batch is ordered by its byte range in the sender's log (`batches`), its facts get their times
and are folded through the pure domain, then trading reacts and everything is written together or not at all
(`app.commands.match_update`). A batch is acknowledged after the commit, so it is applied at least
once. What the broker redelivers is recognised by its message id or its offsets, what a sender repeats by its
offsets, or by the id if it sends none and repeats its last body: an earlier one is applied again, and the
facts in it that do not fit the state (a second death in a round, a score already counted) change nothing. A
body may end within a line, which is read with its rest (`cut_lines`). Missing data is never guessed: the
match is suspended until a round begins of which nothing is missing. Facts applied long after their arrival
score and settle, but suspend every active market and open none.

Two modules act where no line does, on one match after the other: `match_checks` suspends matches whose source
is silent, or all when no worker is alive, and prices matches again when time alone changes their prices, or
their teams' ratings change; `lost_lines` continues after bytes that never came, and stores what cannot be
applied. `source_selection` decides which of several senders is followed. `reference` imports reference data.

Ingest imports no channel; only `routes` imports Litestar.
"""
