"""Who may see what: keys, the grant of each key, tenants' people, and the changes to all of them.

A key is shown once and stored as a keyed hash. Its grant is cached in the process until PostgreSQL notifies
that some key or tenant has changed; while a process cannot receive that, it reads the key at every request.
So a change takes effect everywhere at once, whatever else is down. Every refusal of a key has the same text.
`rate_limit` limits the requests of a key, and those without a valid key.

`admin` is the only way to change tenants, keys and bookings, and writes who did it to the audit; `properties`
validates what a key is issued with, `key_format` generates and checks keys. `broker_sync` applies tenants'
access to the broker, `key_logins` decides which keys may log in there. `log_tokens` signs the addresses that
game servers send their logs to.

The people of tenants: `users` changes them and their one-time links, `sign_in` opens and checks sessions,
`second_factor` verifies codes, `passwords` hashes, `portal_tokens` makes the tokens of links and sessions. A
token is shown once and stored as a keyed hash. Every refusal to sign in has the same text and takes the same
work.

What a tenant sees: `reach` says how far its people see of matches, `selfcheck` compares a client's book with
the tenant's.
"""
