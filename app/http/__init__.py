"""What everything that speaks HTTP shares: who asks, what they may, how an answer and a refusal look.

A request passes `door` (key, rate, rights, format, parameters, by the route's `opt`), then its handler.
`opt` may say: `open` (no key), `operator`, `sport`, `scopes` (one of these is enough), `query` (the
parameters that are known) or `any_query`, `sibling` (there is an address ending in `.xml` too), `format`
(the only one). What a handler returns is rendered by `answer` in the format that `media` settled. Every
refusal, ours or the framework's, is rendered in `errors` as JSON `{detail}`. `head` completes the head of
whatever is sent (request id, what is left of the key's rate) and answers HEAD for every GET; `kept` has the
bodies that need not be made again; `protocol` is the server's HTTP below it all. All hooks are asynchronous:
the framework runs others in threads. `openapi` and `asyncapi` write the documents, `pages` shows them to
people.

Imported by `channels.rest`, `channels.facade`, `channels.stream`, `channels.board`, `ingest`, `main` and
`cli`; imports `access`, `wire`, `store`, `domain` and `kit`.
"""
