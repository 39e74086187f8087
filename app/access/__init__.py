"""Who may see what: keys, the grant of each key, tenants' people, and the changes to all of them.

A key is shown once and stored as a keyed hash. Its grant is cached in the process until PostgreSQL notifies
that some key or tenant has changed; while a process cannot receive that, it reads the key at every request.
So a change takes effect everywhere at once, whatever else is down. Every refusal of a key has the same text.
`rate_limit` limits the requests of a key, and those without a valid key.

`admin` is the only way to change tenants and keys, and writes who did it to the audit; `api_keys` generates
and checks keys, and validates what one is issued with. `feed_selection` changes which matches and market
types a tenant's feed carries; `profiles` by which margin its odds are made, and `profile_previews` says what
that would change. `broker_sync` applies tenants' access to the broker, `key_logins` decides which keys may
log in there. `log_tokens` signs the addresses that game servers send their logs to.

The people of tenants: `users` changes them and their one-time links, `sign_in` opens and checks sessions,
`second_factor` verifies codes, `credentials` hashes passwords and makes the tokens of links and sessions. A
token is shown once and stored as a keyed hash. Every refusal to sign in has the same text and takes the same
work. `self_service` has what they do about their tenant's own keys and AMQP credentials.

What a tenant sees: `reach` decides which matches its people may see, `selfcheck` compares a client's book
with the tenant's.
"""
