"""One builder per document: domain values in, XML bytes out.

`feed` builds the messages of the AMQP feed, live and replayed alike: a replay differs by `request_id` and
`timestamp` only. The only package that imports `app.wire.generated`; what it is given is taken as valid.
"""
