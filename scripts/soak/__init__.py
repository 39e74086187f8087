"""A day of trade, compressed: everything runs, things break, and at the end every account must agree.

`soaked_service` is the service's processes, `bookmakers` are its tenants, `disruptions` what goes wrong and
when, `sampler` records measurements, `verdict` audits, `report` and `plot` show the result. Nothing here
looks into a process.
"""
