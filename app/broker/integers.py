"""The types of the integers in AMQP headers."""

from pamqp import encode


def use_signed_integers() -> None:
    """Make this process encode integers with signed types only: `b`, `s`, `I` and `l` by size.

    By default `pamqp` (used here and by FastStream) encodes 32768..65535 as `u` and 2^31..2^32-1 as `i`,
    which many clients cannot read: some close their connection. Its switch for old brokers, which have no
    unsigned types either, is process-wide.
    """
    encode.support_deprecated_rabbitmq()
