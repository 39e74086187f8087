"""How facts arrive: server logs over HTTP, and operators' commands.

One payload is one transaction: the match row is locked, facts are folded through the pure centre, and
state, ledger and change log are written together or not at all. Ingest never knows a channel.
"""
