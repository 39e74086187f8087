"""The wire formats: pure functions from domain values to JSON views and XML bytes.

`fields` says which fields a key sees, `views` are JSON. `schemas/*.xsd` are the only source of XML shapes:
`codegen` generates frozen models and one straight-line writer per type from them into `generated`; only
`xml` imports those models, everything else deals in domain values and bytes. `text` is what every
writer needs for a single value, and drops external values that no document can represent; `mechanical`
renders what has no schema. There is one builder per message: live and replay differ by timestamp and request
id only. `json_schema` describes the same messages for the AsyncAPI document.

Nothing here uses a clock, a database or a framework.
"""
