"""The OpenAPI documents, one for clients and one for operators, generated from the routes.

Nothing is listed by hand. The framework provides paths, methods and parameters (`route_table`), msgspec the
schemas of bodies, because it also decodes and encodes them (`schemas`), the route's `opt` the access rules
(`operation`, which has one request body of each type) and the error responses (`problems`), recorded
responses of a running service the examples (`response_examples`). `components` describes parameters
and headers by name; a new name needs a line there, which a test checks. `document` assembles it, `page`
renders it as HTML. The recorded documents are in `docs/`; `nox -s documents` records them again.
"""
