"""What has to happen before a database is used again that was restored from a backup, or that failed over to
a standby which may lack commits.

After a restore `procedure` does it, in this order: it refuses while a process of the service is alive;
`checks` examines the database and compares clocks, and audits ledger and change log; what the broker has of
each tenant is made or repaired; then one transaction (`store.restoration`) goes on with
numbers above everything that can have been published, notifies every tenant and ends what is past; last,
`suspension` suspends every match that is not over. After a promotion `failover` does in one transaction what
needs neither the broker nor an operator, on behalf of the first connection of any process
(`store.timeline`).

Invariants:
- nothing is changed before every check has passed;
- each step may be repeated: what was interrupted is run again as a whole;
- no process assigns a number on a promoted server before `failover` has raised the counters;
- no number or timestamp that a client receives afterwards was received before for something else.
"""
