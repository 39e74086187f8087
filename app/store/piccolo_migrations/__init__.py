"""The schema's history, one file a step, run by Piccolo in the order of their `ID`.

What a step does is never changed once it is released: add another. Each is one call of
`app.store.migration_steps`; statements are plain SQL.
"""
