"""The OpenAPI documents, one for clients and one for operators, generated from the routes.

Nothing is listed by hand. The framework provides paths, methods and parameters (`routes`), msgspec the
schemas of bodies, because it also decodes and encodes them (`schemas`), the route's `opt` the access rules
(`document`), recorded responses of a running service the examples. `document` has an example of a request
body for each type.
`components` describes parameters, headers and error responses by name; a new name needs a line there, which a
test checks. The framework's own documents have no rights, rate limits or second formats, and schemas of its
own making. The recorded documents are in `docs/`; `nox -s documents` records them again.
"""
