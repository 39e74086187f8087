"""The portal at /portal: pages for a tenant's people.

Pages are rendered by the server and work without scripts, except for what moves by itself (htmx with
server-sent events) and plots (uPlot); what they share with other sites is in `sites.pages`. Each change calls
the function that the API calls for it, in one audited transaction.

- Every request but signing in and links needs a session (`sites.pages.sessions`), which names one user
  of one tenant: handlers take the tenant from it and never from the address.
- Every POST carries the session's CSRF token.
- What a role may do is stated in each route's `opt`, and checked before its handler.
"""
