"""Everything that plays a part for development, demonstrations and tests; no service depends on it.

`simulator` invents matches and sends their server logs over HTTP. `demonstration` is a running demo as a
command sees it, `demo_tenants` its tenants, `faults` the fault menu, and `healing` runs one fault and waits
until the demo's bookmaker has healed.
"""
