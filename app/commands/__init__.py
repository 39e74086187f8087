"""What is done to a match in one transaction: operators' commands, and the write path that ingest shares.

    match_commands → effects (pure) ─┐
    log facts (`app.ingest`) ────────┴─► match_update: trading reacts → store

A command is one struct of `match_commands` or `trading_commands`. `effects` says how it changes the match and
which manual action it takes on its markets (`market_actions`); `execution` says what it would do, or carries
it out in one transaction, at most once for each request id, with an audit row and what it changed, from which
`undo` takes it back. `command_service` is what its senders call; it has those that wait for a second person,
because they change what was published long ago. `creation` creates matches, `source_switch` chooses the log
source. `alert_handling` has what operators do about alerts.

`match_update` ends every transaction that changes a match's state, whether a command or a log batch began it
(one that only stores a batch for later, or a recovery's timestamp, does not): trading reacts, and state,
ledger and change log (`change_drafts`) are written together or not at all, with what the transaction was
given (`match_inputs`). What trading decides (`match_reaction`) is pure, so that `app.recompute` can compute
it again from a file (`match_export`). `match_entrants` resolves team, tournament and player names to numbers,
and rates teams by what is played; `rating_import` imports results and strengths. Alerts about the match begin
and end with its doubts. `settlement_audit` recomputes settlements.
"""
