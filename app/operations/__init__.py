"""What those who run the service use: `api` (/ops/v1), `doctor` (what is wrong with an installation) and
`restoration` (what has to happen after a restore or a fail-over). They do not import each other.
"""
