"""Reference data from files: soccer profiles, and the teams, players and tournaments of Counter-Strike.

    a file → rows (`openfootball`, `profiles`: pure) → `importing`: one transaction a command

A row says of what kind it is and what is known about one thing. It is told apart by its `id`, or else by
its name; what it does not say stays as it was. Nothing is taken from a command of which one row is wrong.
Imported by `cli`.
"""
