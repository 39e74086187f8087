"""What machines of tenants receive: `rest`, `facade`, `stream` and `feed`.

A read is handler → store → wire. Channels import neither each other nor `ingest`: what they share is in the
store.
"""
