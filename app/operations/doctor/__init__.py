"""`matchfeed doctor`: what is wrong with an installation, and what to do about it.

`findings` defines a finding. `machine`, `broker` and `database` each look at one part and return its
findings; `examination` runs them all. What depends on a part that does not answer is unknown, so that only
the cause is reported as ill. Nothing is changed, and no secret is part of a finding.
"""
