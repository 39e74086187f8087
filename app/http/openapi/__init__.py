"""The OpenAPI documents: what clients of each half of the service may ask for, made from the routes.

Nothing is listed by hand. The framework tells paths, methods and parameters (`outline`), msgspec the shapes
of bodies, being what reads and writes them (`shapes`), the route's `opt` who may ask (`operation`) and what
is refused (`refusals`), recorded answers of a running service what they look like (`examples`); of bodies
that are sent, `bodies` has one of each type. `words` explains parameters and headers by their names; a new
name needs a line there, and a test says so. `document` puts it together, `page` shows it to people. The
recorded documents lie in `docs/`; `nox -s documents` writes them anew. Imported by `channels.rest`; imports
`http` and `domain`.
"""
