"""What everything that speaks HTTP shares: who asks, what they may, and how a refusal looks.

A request passes `request_id` (every answer carries one), `rate_limit.Gate` (strangers who knock too often),
`auth` (whose key), `rate_limit.RateLimit` (how often), `auth.Admission` (operator, sport, scope, by the
route's `opt`) and `query` (no unknown parameter), then its handler. Every refusal, ours or the framework's,
is rendered in `errors` as JSON `{detail}`. All hooks are asynchronous: the framework runs others in threads.
Imported by `channels.rest`, `channels.facade`, `channels.stream`, `ingest.routes` and `main`.
"""
