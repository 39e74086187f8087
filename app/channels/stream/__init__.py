"""The WebSocket stream: where things stand on connecting, then what changes, as the change log has it.

One `poller` per watched thing (all matches, or one) and process, shared by all who watch it. Its `watch`
holds the `standing` of each match, all at one seq of the log, and takes in what follows; `telling` makes of
that what is told, state by state the newest, everything else one by one; `frames` renders it once per
`profile` (what a key may hear and see) and every `connection` with that profile is written the same bytes.
`opening` is the snapshot. `streams` lets clients in (`door`) and out (`closing` has the codes); `lines` lead
to them; `terms` are the figures that all of it is run by. `document` tells what clients receive.

- A frame's `seq` is that of its change, in every process and on every channel. On one connection seqs only
  rise, but for `alive`, whose seq says: all up to here has been sent. No `alive` while we cannot look.
- What a key sees in the match resource and gets no frame of its own for, `match.updated` tells.
- Slow readers wait for themselves: a bounded queue each, in which newer states replace older ones.
- Whatever ends a key ends its connections, within a second, whether or not signals are heard.

Imported by `main`, and `cli` for the server protocol (`lines.DirectWebSockets`); imports `access`, `http`,
`store`, `wire`, `domain` and `kit`.
"""
