"""Servers and processes that the scripts need around the product: found, started and ended here.

A server that answers is used; else a private one is started in a directory of its own, on loopback, on
free ports. What we start is recorded (pid and start time) before anything else happens, and only a process
that is still the recorded one is ever ended. Errors that a person can act on are
`ServiceError`: one line, what to do. `scripts/` and `tests/` may import this; `app` never does.
"""
