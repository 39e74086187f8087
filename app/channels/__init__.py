"""What clients receive: `rest`, `facade`, `stream` and `feed`; `board` is the page at /.

A read is handler → store → wire. Channels import neither each other nor `ingest`: what they
share is in the store. Each package's docstring states who imports it.
"""
