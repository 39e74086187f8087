"""How things look outside: pure functions from domain values to JSON views and XML bytes.

`fields` says which fields a key sees, `views` are JSON. `schemas/*.xsd` are the only source of XML shapes:
`codegen` turns them into `generated`, frozen models and one straight-line writer a type; `envelopes` is the
only package that speaks those models, so that everybody else deals in domain values and bytes. `text` is what
every writer needs for one value; `kept` markup is rendered once for a value that comes again; `mechanical`
renders what has no schema. One builder per message: live and replay differ by their stamp only.
`shapes` says the same to readers of the AsyncAPI document.

Nothing here knows a clock, a database or a framework. Imported by `channels.rest`, `channels.facade`,
`channels.stream`, `channels.feed`, `amqp`, `recovery`, `http`, `operators` and
`main`; imports `domain` and `kit`.
"""
