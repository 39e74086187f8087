"""Reference data from files: soccer profiles, and the teams, players and tournaments of Counter-Strike.

    a file → rows (`files`) → `importing`: one transaction a command

A row has a kind and the fields of one entity, identified by its `id`, or else by its name; fields that it
leaves out stay unchanged. If one row is invalid, nothing of the command is imported.
"""
