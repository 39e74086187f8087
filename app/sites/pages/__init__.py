"""What the pages of people share: those of tenants (`sites.portal`) and others that sign in.

A `Site` has an address, templates, texts and assets of its own, and the same ones of this package beneath
them. Its router names it in `opt["site"]`, so that whatever renders a page finds it by the request alone:
also the page for a refusal by a middleware that runs before the `SessionGuard`.

- Pages are rendered by the server (Jinja2), escape every value and load nothing from elsewhere; forms work
  without scripts. What moves does so by server-sent events (`event_streams`).
- Every request but those of `public` routes needs a session, and each that changes something the session's
  CSRF token (`sessions`).
- Every text is in both languages (`texts`).
"""
