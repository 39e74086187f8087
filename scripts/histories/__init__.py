"""Random histories of matches, operators, tenants and faults on a cluster, each audited by the lab.

`history` has the steps, and makes a history from a seed; `run` plays one; `outcome` stores what came of it
and makes the table; `shortening` finds the steps without which nothing breaks.
"""
