"""Golden files: what each builder writes for known values, byte for byte.

`samples` holds the values, one call a document; the files stand beside it. `python -m tests.golden` rewrites
them all; read the difference before you commit it, for it is what every client will see.
"""
