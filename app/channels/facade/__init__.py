"""The compatibility facade: the paths under /v1/ of an established odds-feed layout, for clients that have
them built in. Documents are always XML, whatever `Accept` says; refusals are JSON like everywhere, but for
the marks that stand in the place of what does not exist.

`catalogue` and `identity` hold what clients read once, `entrants` and `events` what they look up, `schedules`
the lists of matches, `recovery` the requests to be told again, `icon` the picture of the category; `asked`
reads what stands in the paths, and `facade` is what the handlers work with. Some paths go beyond the
specification, because existing clients call them: `docs/compatibility.md` lists all.

Documents are rendered once and kept (`http.kept`) until what they are about changes; a schedule once for all
tenants that take the same matches. The moment of rendering stands in the root of every document
(`generated_at`); it takes no part in the ETag, so that a client need not load again what was only rendered
again.

Where clients of this layout disagree, `wire.envelopes.dialect` holds the specification's choice.

Imported by `main`; imports `recovery`, `http`, `store`, `wire`, `domain` and `kit`.
"""
