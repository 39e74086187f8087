"""A day of trade, compressed: everything runs, things break, and at the end every account must agree.

`soaked_service` is the service's processes, `bookmakers` are its tenants, `people` those at the portal and at
the console (`person`, `visits`: their requests); `faults` says which two faults come when, which `breakage`
carries out, `disruptions` what clients do; `sampler` records measurements, `verdict` audits, `report` and
`plot` show the result. Nothing here looks into a process.
"""
