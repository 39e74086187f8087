"""What people see: `board` (the page at /), `portal` (a tenant's people) and `console` (traders).

`pages` has what the sites share: rendering, texts, forms, sessions, event streams, assets. A site reads
through `store` and changes through `commands`, `access` and `recovery`, by the same functions as the API;
sites do not import each other.
"""
