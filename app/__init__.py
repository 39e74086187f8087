"""matchfeed: what is true about Counter-Strike 2 matches, priced, settled and told.

Packages are named after the direction of flow: facts come in (`ingest`), the pure centre decides
(`domain`, `trading`), one transaction keeps it (`store`), and four channels tell it (`channels`).
The edges never import each other; they meet in the store. `docs/architecture.md` draws the house.
"""
