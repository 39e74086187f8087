"""The status of the service, which anybody may read: parts, incidents, announced maintenance, figures of each
day beside what is promised.

`facts` decides from the facts of alerts and of `alive` what is wrong; `monitor` begins, updates and ends
incidents by them, in every web process, and holds the present status in memory; `days` computes the figures
of a day that is over; `announcements` is what operators add.

Invariants:
- an incident follows from facts alone, begins when they began, and ends with them; operators add words;
- no incident names a match, a tenant or a host, and what concerns one tenant alone is none;
- an incident begins once and ends once, however many processes observe it;
- the present status is served without a database, and says so while there is none.
"""
