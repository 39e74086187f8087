"""matchfeed: the state of Counter-Strike 2 matches, priced, settled and published.

Packages are named after the direction of flow: `ingest` receives facts, `domain` and `trading` (pure) decide
what follows, one transaction writes it to the `store`, and four `channels` serve and publish it. `ingest` and
`channels` do not import each other: they share the store. `docs/architecture.md` describes the packages.
"""
