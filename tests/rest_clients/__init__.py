"""REST clients generated from `docs/openapi.json`, and a program of each that uses them against the demo.

`python` and `typescript` hold what is committed: the pinned generators, their settings, and `tour`, the
program (`requirements.txt` is made of `requirements.in` as `nox -s lock` makes the service's). Generated
code is made fresh in `var/rest_clients` and `var/node`. `python -m tests.rest_clients` (`nox -s clients`)
generates, checks types strictly, counts what has none, and runs both programs.
"""
