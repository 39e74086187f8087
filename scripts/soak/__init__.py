"""A day of trade, compressed: everything runs, things break, and at the end every account must agree.

`sampler` records measurements, `report` and its plot show the result; all else is the lab's. Nothing here
looks into a process.
"""
