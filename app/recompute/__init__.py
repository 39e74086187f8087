"""Prices and results without a service: no database, no broker, no settings. Pure.

    bytes of any log ─────────────► log_prices ────┐
                                                   ├─► match_run: what the service would publish
    file of a match, coefficients ─► recomputation ┘   (`recomputation` compares it with what was)

The functions are those that ingest and commands call (`app.ingest.log_facts`, `app.commands.match_reaction`);
`match_run` holds in memory what the service stores. Nothing but `cli` imports this package.
"""
