"""The tables as Piccolo classes, one file per subject.

The classes describe tables and build queries; they hold no connection (`Tx.run` runs the queries). The schema
itself is in `piccolo_migrations`, because a class cannot express partial indexes, composite keys and
functions; a test compares the two column by column. Times are bigint Unix milliseconds. Only `app.store` may
import this package.
"""
