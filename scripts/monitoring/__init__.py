"""What watches the service: the alert rules and the dashboard in `scripts/deploy`, defined here.

`service_levels` defines what clients are promised and the alerts about its budget, `alerts` all other alerts,
`rules_file` writes both as Prometheus reads them, `dashboard` the dashboard as Grafana imports it.
`fault_alerts` lists which alerts each fault of the menu raises; `python -m scripts.monitoring` injects them
and compares, with `prometheus_server`.
"""
