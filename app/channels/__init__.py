"""How what is true leaves the house: `rest`, `facade`, `stream`, `feed`; `board` is the page that shows it.

A read is handler → store → wire: three calls. Channels never know each other and never know ingest;
they meet in the store.
"""
