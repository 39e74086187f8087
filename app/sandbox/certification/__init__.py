"""Whether a client is right, whatever goes wrong on the way: `matchfeed certify`.

`service` starts the real processes on a database and vhosts of their own; `amqp_proxy` and `http_proxy` stand
between them and the client, which `clients` starts; `game` plays matches. `accidents` are declared with what
brings them about on a `stage`; `reports` compares what the client reports with what the service has, and
`run` judges. The service knows nothing of a certification, and no customer's data or traffic is touched.
"""
