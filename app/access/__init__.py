"""Who may see what: keys, the grant that a presented key stands for, and the changes to both.

A key is shown once and kept as a keyed hash. Its grant is kept in the process until PostgreSQL says
that some key or tenant has changed; while a process cannot hear that, it reads the key at every request.
So a change takes effect everywhere at once, whatever else is down. Every refusal of a key has the same
words. `rate_limit` says how much a key may ask for, and how much a stranger may knock.

`admin` is the only way to change tenants, keys and bookings, and writes who did it to the audit; `properties`
checks what a key is issued with. `amqp` keeps the broker in step with who is let in; `standing` says, for
operators, how far each tenant has been told. `log_tokens` signs the addresses that game servers send their
logs to.

Imported by `operators`, `channels.feed`, `channels.stream`, `ingest`, `http`, `main`, `workers`, `sandbox`
and `cli`; imports `store`, `broker`, `domain` and `kit`.
"""
