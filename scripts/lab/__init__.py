"""What the scenarios are made of that break the service and look at what is left: each thing once.

Where it runs: `hosts` (network namespaces or addresses of loopback), `brokers`, `databases` and `programs` on
them, `record` of what was started, `cluster` as a command. What breaks there: `faults`. The scenarios are
packages beside this one: `histories`, `soak`, `clustering`, `upgrade`, `restore`.
"""
