"""Models and writers of every XML shape, generated from `schemas/` by `python -m codegen`: do not edit.

Each complex type of a schema is a frozen struct with a function that renders it; each root element has one
that writes the document. Values are assumed to be valid: the schema's facets are not checked at run time.
Only `app.wire.xml` may import these modules.
"""
