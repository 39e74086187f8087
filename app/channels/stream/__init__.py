"""The stream, over WebSocket and HTTP: a snapshot on connecting, then every change in the order of the change
log.

`server` authenticates and accepts upgrades. `changes` has the same over HTTP, by the page and, in
`event_stream`, as server-sent events. Both are clients of `subscriptions`, which counts them and closes those
of ended keys. One `poller` per subscription (all matches, or one match) and process, shared by all its
clients, reads the change log at an interval. Its `projection` holds the state of each match, all at one seq
of the log. `updates` turns log rows into what is sent: conflated states, and every round, event and
settlement. `frames` encodes each update once per `Entitlements` (what a key may receive), and every
`connection` with those entitlements is sent the same bytes over its transport, after a `snapshot`, which it
receives first; `asyncapi` documents the WebSocket.

- A frame's `seq` is that of its change, in every process and on every channel. On one connection seqs only
  rise, except that of `alive`, which states that everything up to its seq has been sent. While the change log
  cannot be read no `alive` is sent.
- A change that a key sees in the match resource, but has no frame of its own for, is sent as `match.updated`.
- A slow client delays only itself: each connection has a bounded queue, in which a newer state replaces an
  older one.
- When a key ends, its connections are closed within a second, whether or not NOTIFY works.
"""
