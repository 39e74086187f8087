"""The operators' API, /ops/v1: matches, alerts, tenants, keys, bookings, the feed's state, metrics.

Served on a listener of its own when `OPERATOR_PORT` is set (`app.http.listeners`). Every route needs an
operator key; every change is one audited transaction: on matches by `app.commands`, on tenants and keys by
`app.access.admin`; a profile is published in one, and given to each tenant in one (`app.access.profiles`).
The log sink, which game servers call, is not here but in `app.ingest.routes`.

The `AlertMonitor` updates, in the background of web processes, the alerts that follow from stored state.
"""
