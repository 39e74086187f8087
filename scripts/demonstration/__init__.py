"""The running demo: one supervisor process that owns the servers it started and the service's processes.

`scripts/demo.py` is the command; it finds a running supervisor by `record.json` and talks to it by signals
only. `var/demo.json`, which is for clients, stands exactly as long as the demo is ready for them.
"""
