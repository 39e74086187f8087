"""The status of the service for people: the page at `/status`, and its feed in Atom (`atom`).

It is rendered by the server, works without scripts, and shows what `GET /v1/status` answers, with the words
of `app.status`. Nothing here depends on who requests it.
"""
