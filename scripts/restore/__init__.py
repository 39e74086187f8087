"""A backup under load and its restore elsewhere, with tenants that compare what they receive.

`backups` takes and restores a dump, or a base backup with the archived WAL; `recorder` is a tenant that
records every message; `drill` is what happens, in order; `findings` compares. Nothing here looks into a
process.
"""
