"""A cluster of the whole service on one machine, for tests of what happens between machines.

`hosts` makes the hosts, `brokers`, `databases` and `programs` start what runs on them, `faults` breaks the
network between them, `record` stores what was started.
"""
