"""What everything that speaks HTTP shares: who asks, what they may, how an answer and a refusal look.

A request passes `door` (key, rate, rights, format, parameters, by the route's `opt`), then its handler.
`opt` may say: `open` (no key), `operator`, `sport`, `scopes` (one of these is enough), `query` (the
parameters that are known) or `any_query`, `sibling` (there is an address ending in `.xml` too), `format`
(the only one), `kept` (bodies are kept, for all to whom this gives the same), `heavy` (a few at a time); and
for the document alone `takes` (the type of a body that is read raw) and `required` (parameters). What a
handler returns is rendered by `answer` in the format that `media` settled.

Every refusal is JSON `{detail}`: ours and the framework's are rendered in `errors`, those of upgrades in
`upgrade`, those of what is no request in `protocol`, the server's HTTP below it all. `head` completes the
head of whatever is sent (request id, what is left of the key's rate) and answers HEAD for every GET;
`sending` has bodies on their way, `kept` those that need not be made again. All hooks are asynchronous: the
framework runs others in threads. `openapi` and `asyncapi` write the documents, `pages` shows them to people.

Imported by `channels.rest`, `channels.facade`, `channels.stream`, `channels.board`, `operators`, `ingest`,
`main` and `cli`; imports `access`, `wire`, `store`, `domain` and `kit`.
"""
