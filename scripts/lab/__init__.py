"""What the scenarios are made of that play matches, break the service and audit what is left: each once.

Where it runs. On a cluster: `hosts` (network namespaces, or addresses of loopback), `brokers`, `databases`
and `programs` on them, `record` of what was started, `cluster` as a command. On this machine: `service`, and
`demo`. The servers that both need are those of `scripts.local_services`;
`own_data` is what a run has on them.

What happens there. `play` sends the logs of simulated matches; `operators` give commands and make tenants;
`feed_client` and `stream_client` are a tenant's; `people` and `person` are in a browser; `faults` breaks a
cluster, `local_faults` the processes of this machine and their connections.

What is left. `evidence` is what `collection` reads and `auditor` judges, purely; `recorded_log` is a copy of
the change log that is never pruned; `database_audit` looks at the ledger and what was appended.

Scenarios: `histories`, `soak`, `clustering`, `upgrade`, `restore`, `monitoring`, `demonstration`. None
imports another one, and the lab imports none.
"""
