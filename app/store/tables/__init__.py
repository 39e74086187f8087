"""What the tables look like: Piccolo classes, one file a noun, in the order of the flow.

The classes describe and build queries; they hold no connection (`Tx.run` runs what they build). The
schema itself is written in `piccolo_migrations`, because partial indexes, composite keys and functions
are beyond a class; a test compares the two column by column. Times are bigint Unix milliseconds.
Only `app.store` may import this package.
"""
