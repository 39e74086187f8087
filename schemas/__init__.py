"""Every XML shape that leaves the service (`common.xsd`, `feed.xsd`, `facade.xsd`): `codegen` makes the
models and writers of `app.wire.generated` from them, and the service hands them out under `/v1/schemas`.

A package, so that `importlib.resources` finds the files both in a checkout and in an installed wheel.
"""
