"""Daily files: prices, settlements, rounds and timeline of a day, as Parquet and CSV, for each tenant by its
rights.

`making` makes a day's files, a variant after the other: tenants to which everything looks the same share one
(`domain.daily_files`). `content` reads their rows from the store, a match at a time, and `formats` writes
them, a group of rows at a time, so that memory does not grow with the day. `directory` is where the files
are, with a manifest for each day.

Invariants:
- a file has a row for what REST showed the tenant of that day, and nothing else;
- a file is there whole or not at all: it is written under another name, and the manifest that lists it is the
  last to come;
- the same rows make the same bytes.
"""
