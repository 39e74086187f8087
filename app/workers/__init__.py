"""The background processes: `feed` publishes to tenants, `ingest` applies log batches, `broker-authorisation`
answers the broker's requests.

Each runs until SIGTERM or SIGINT and then shuts down in order; after any other end the next start (or another
process) continues where it stopped. Each has a module of its own, and starts without what the others import.
"""
