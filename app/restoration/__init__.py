"""What has to happen after PostgreSQL was restored from a backup, before the processes start on it again.

`procedure` does it, in this order: `idle_check` refuses while a process of the service is alive; `checks`
examines the database and compares clocks, and audits ledger and change log; `tenant_vhosts` makes or repairs
what the broker has of each tenant; then one transaction (`store.restoration`) goes on with numbers above
everything that can have been published, notifies every tenant and ends what is past; last, `suspension`
suspends every match that is not over.

Invariants:
- nothing is changed before every check has passed;
- each step may be repeated: what was interrupted is run again as a whole;
- no number or timestamp that a client receives afterwards was received before for something else.

Imported by `cli`; imports `access`, `commands`, `broker`, `store`, `domain` and `kit`.
"""
