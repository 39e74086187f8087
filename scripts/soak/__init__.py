"""A day of trade, compressed: everything runs, things break, and at the end every account must agree.

`house` is the service's processes, `bookmakers` are its tenants, `day` is what goes wrong when, `gauges`
write down how it went, `verdict` audits, `report` and `plot` tell. Nothing here looks into a process.
"""
